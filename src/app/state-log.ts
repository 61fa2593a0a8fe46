import type { LogFields, Logger } from '../log.ts';
import type { FinishedProbe } from '../record.ts';
import { toRecord } from '../record.ts';

/** Says when the state of a profile changes; a probe that changes nothing says nothing. */
export interface ProbeLog {
  finished(probe: FinishedProbe): void;
}

// A profile at the edge of its threshold would otherwise make a line of nearly every probe.
const FAST_AGAIN_AFTER = 3;

const FIELDS = [
  'id',
  'model',
  'profile',
  'api',
  'reason',
  'stage',
  'side',
  'message',
  'http_status',
  'ttft_seconds',
  'tpot_seconds',
  'longest_gap_seconds',
  'duration_seconds',
  'warmup',
  'cause',
  'evidence',
] as const;

/** A subset of the record, without what does not exist. */
function fieldsOf(probe: FinishedProbe): LogFields {
  const record = toRecord(probe);
  const known = FIELDS.map((name) => [name, record[name]] as const).filter(([, value]) => value !== null);
  return Object.fromEntries(known) as LogFields;
}

type State =
  | { readonly kind: 'good' }
  | { readonly kind: 'slow'; readonly fastInRow: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** @param log of the target: carries its name */
export function createProbeLog(log: Logger): ProbeLog {
  const states = new Map<string, State>();

  const failed = (probe: FinishedProbe, reason: string, before: State | undefined): State => {
    if (before?.kind === 'failed' && before.reason === reason) return before;
    const fields = fieldsOf(probe);
    // An engine that loads its model is no news; what our own side has to mend is for somebody to act on, now.
    if (probe.warmup) log.info(fields, 'probes fail, the endpoint has not been ready yet');
    else if (probe.outcome.outcome === 'failed' && probe.outcome.failure.side === 'probe') {
      log.error(fields, 'probes fail on our side');
    } else log.warn(fields, 'probes fail');
    return { kind: 'failed', reason };
  };

  const slow = (probe: FinishedProbe, before: State | undefined): State => {
    if (before?.kind !== 'slow') log.warn(fieldsOf(probe), 'probes are slow');
    return { kind: 'slow', fastInRow: 0 };
  };

  const good = (probe: FinishedProbe, before: State | undefined): State => {
    if (before?.kind === 'slow') {
      if (before.fastInRow + 1 < FAST_AGAIN_AFTER) return { kind: 'slow', fastInRow: before.fastInRow + 1 };
      log.info(fieldsOf(probe), 'probes are fast again');
    } else if (before === undefined) log.info(fieldsOf(probe), 'first probe is good');
    else if (before.kind === 'failed') log.info(fieldsOf(probe), 'probes are good again');
    return { kind: 'good' };
  };

  return {
    finished(probe) {
      const { outcome, diagnosis } = probe;
      // What our own late event loop did is no state of the endpoint.
      if (outcome.disturbed && diagnosis?.cause === 'client') return;
      const before = states.get(outcome.profile);
      let next: State;
      if (outcome.outcome === 'failed') next = failed(probe, outcome.failure.reason, before);
      else if (diagnosis !== null) next = slow(probe, before?.kind === 'failed' ? undefined : before);
      else next = good(probe, before);
      states.set(outcome.profile, next);
    },
  };
}
