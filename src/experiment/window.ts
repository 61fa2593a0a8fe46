import type { ClientRecord, RequestRecord, RunMetadata } from './types.ts';

/**
 * What belongs to the window.
 *
 * - The *window* reaches from its first request to the moment after which none is begun. Cut off at both ends by the
 *   trim it is the *trimmed window*: [from, to).
 * - A *request* belongs to the trimmed window when it was sent inside it, whenever it ended: latencies, failures,
 *   goodput and output lengths are about these.
 * - A *token* belongs to it when it arrived inside it, of whatever request, good or failed: throughput is about these.
 *   (Counted by requests, the tokens of those that lie across an end would be added or lost.)
 */
export interface Span {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

export const inside = ({ fromSeconds, toSeconds }: Span, atSeconds: number): boolean =>
  atSeconds >= fromSeconds && atSeconds < toSeconds;

/** When a request was sent; for one that never got so far, when it was begun. */
export const sentAt = (record: RequestRecord): number => record.sentAtSeconds ?? record.beganAtSeconds;

export const isOfWindow = (record: RequestRecord, span: Span): boolean =>
  record.phase === 'window' && inside(span, sentAt(record));

/**
 * The arrival of each token chunk and the tokens that it stands for. Where the engine's usage does not say how many the
 * first chunk held, it is one, as prefill makes one; the others share the rest evenly.
 */
export function eachArrival(record: RequestRecord, visit: (atSeconds: number, tokens: number) => void): void {
  if (record.ttftSeconds === null || record.sentAtSeconds === null) return;
  const { gapsMicroseconds: gaps } = record;
  const total = record.outputTokens ?? gaps.length + 1;
  const first = gaps.length === 0 ? total : Math.min(record.firstChunkTokens ?? 1, total);
  const each = gaps.length === 0 ? 0 : (total - first) / gaps.length;
  const firstAt = record.sentAtSeconds + record.ttftSeconds;
  visit(firstAt, first);
  let micros = 0;
  for (const gap of gaps) {
    micros += gap;
    visit(firstAt + micros / 1e6, each);
  }
}

export function tokensInside(record: RequestRecord, span: Span): number {
  let tokens = 0;
  eachArrival(record, (at, count) => {
    if (inside(span, at)) tokens += count;
  });
  return tokens;
}

/** Tokens of all these requests that arrived inside the span. */
export const tokensBetween = (records: readonly RequestRecord[], span: Span): number =>
  records.reduce((sum, record) => sum + tokensInside(record, span), 0);

/** Number of values of the ascending array that are at most `value`. */
function countUpTo(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const ascending = (values: number[]): number[] => values.sort((a, b) => a - b);

function completeUntilOf(records: readonly RequestRecord[], samples: readonly ClientRecord[]): number {
  const began = ascending(records.map((record) => record.beganAtSeconds));
  const ended = ascending(records.map((record) => record.endedAtSeconds));
  let until = Number.NEGATIVE_INFINITY;
  for (const { atSeconds, inFlight } of samples) {
    if (countUpTo(began, atSeconds) - countUpTo(ended, atSeconds) < inFlight) break;
    until = atSeconds;
  }
  return until;
}

/**
 * The last moment up to which every request that was in flight has left its record. A run that was killed has lost the
 * requests that were under way, and with them tokens that had arrived: after this moment throughput would look too low.
 */
export function completeUntil(requests: readonly RequestRecord[], client: readonly ClientRecord[]): number {
  const workers = [...new Set(client.map((sample) => sample.worker))];
  const ends = workers.map((worker) =>
    completeUntilOf(
      requests.filter((record) => record.worker === worker),
      client.filter((sample) => sample.worker === worker).sort((a, b) => a.atSeconds - b.atSeconds),
    ),
  );
  return ends.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...ends);
}

/** Of a run that was cut short, no more than this is trimmed at each end. */
const LARGEST_TRIM_SHARE = 0.25;

/** The window and the part of it that figures are about. Null when it never began, or nothing of it is complete. */
export function windowsOf(
  { plan, phases, ended }: Pick<RunMetadata, 'plan' | 'phases' | 'ended'>,
  requests: readonly RequestRecord[],
  client: readonly ClientRecord[],
): { readonly whole: Span; readonly trimmed: Span; readonly trimSeconds: number } | null {
  const { from, to } = phases.window;
  if (from === null) return null;
  const planned = from + plan.windowSeconds;
  const complete = ended === 'complete';
  const end = complete ? (to ?? planned) : Math.min(to ?? planned, completeUntil(requests, client));
  if (!(end > from)) return null;
  const trimSeconds = complete ? plan.trimSeconds : Math.min(plan.trimSeconds, (end - from) * LARGEST_TRIM_SHARE);
  return {
    whole: { fromSeconds: from, toSeconds: end },
    trimmed: { fromSeconds: from + trimSeconds, toSeconds: end - trimSeconds },
    trimSeconds,
  };
}
