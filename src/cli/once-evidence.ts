import type { Cause, Evidence } from '../diagnose/types.ts';
import { humanCount, humanSeconds } from './style.ts';

/** What each cause means, in one line for people. */
export const CAUSE_MEANING: Readonly<Record<Cause, string>> = {
  client: 'this program was itself late or at fault; the endpoint is not to blame',
  engine_restart: 'the engine restarted, is loading, or is gone',
  engine_hang: 'the engine has requests and makes no tokens',
  rate_limit: 'the endpoint refused because of a limit',
  preemption: 'the engine threw a running request out of the KV cache and computes it again',
  queueing: 'requests waited for a place in the batch',
  kv_pressure: 'the KV cache was nearly full',
  prefill_contention: "other requests' prompts took the steps",
  network: 'the time went into connecting, or into reaching an idle engine',
  unknown: 'nothing that was seen explains it',
};

const known = (text: string, value: number | null, show: (value: number) => string): readonly string[] =>
  value === null ? [] : [`${text} ${show(value)}`];

const percent = (ratio: number): string => `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)} %`;

/** The values that a verdict was taken from, those that are known. */
export function describeEvidence(evidence: Evidence): readonly string[] {
  const engine = evidence.samples === 0 ? ["no samples of the engine's page"] : [];
  return [
    ...engine,
    ...known('waiting up to', evidence.waitingMax, humanCount),
    ...known('running up to', evidence.runningMax, humanCount),
    ...known('KV cache up to', evidence.kvUsageRatioMax, percent),
    ...known('preemptions', evidence.preemptionsIncrease, (value) => `+${humanCount(value)}`),
    ...known('generated tokens', evidence.generationTokensIncrease, (value) => `+${humanCount(value)}`),
    ...(evidence.zone === null ? [] : [`zone ${evidence.zone}`]),
    ...(evidence.restarted ? ['engine restarted'] : []),
    ...(evidence.hung ? ['engine hung'] : []),
    ...(evidence.samples > 0 && !evidence.engineUp ? ['metrics page not readable'] : []),
    ...known('connecting', evidence.connectSeconds, humanSeconds),
    ...known('headers', evidence.headersSeconds, humanSeconds),
    ...known('own event loop late by', evidence.eventLoopDelaySeconds, humanSeconds),
  ];
}
