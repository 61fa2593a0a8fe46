import { setTimeout as sleep } from 'node:timers/promises';
import { fetchPage, type MetricsPage } from './metrics-page.ts';
import { recentProbes } from './recent-probes.ts';
import type { ProbeRecord } from './record.ts';
import type { Sidecar } from './sidecar.ts';

/** What vLLM says of one finished request, from the increases of its own sums around it. */
export interface EngineTruth {
  readonly ttftSeconds: number;
  readonly decodeSeconds: number;
  readonly promptTokens: number;
  readonly generationTokens: number;
}

export interface PairedProbe {
  readonly record: ProbeRecord;
  readonly truth: EngineTruth;
}

const SUMS = {
  ttftSeconds: 'vllm:time_to_first_token_seconds_sum',
  decodeSeconds: 'vllm:request_decode_time_seconds_sum',
  promptTokens: 'vllm:prompt_tokens_total',
  generationTokens: 'vllm:generation_tokens_total',
} as const;
const STARTED = 'vllm:time_to_first_token_seconds_count';
const FINISHED = 'vllm:e2e_request_latency_seconds_count';

function increase(before: MetricsPage, now: MetricsPage, name: string): number {
  return (now.sum(name) ?? 0) - (before.sum(name) ?? 0);
}

/** The page once it shows the request that the sidecar has just seen end; the engine writes it a moment later. */
async function pageAfterRequest(metricsUrl: string, before: MetricsPage): Promise<MetricsPage> {
  for (let attempt = 0; ; attempt += 1) {
    const page = await fetchPage(metricsUrl);
    if (increase(before, page, FINISHED) > 0 || attempt === 10) return page;
    await sleep(50);
  }
}

/**
 * Watches the sidecar's probes and pairs each with the engine's own account of it, until there are `wanted` pairs
 * of which the sidecar itself says that they are undisturbed; the disturbed ones are among the result as well.
 * The engine's page is read only between probes, so that reading it slows none of them. Where the page shows more or
 * less than exactly one request since the last look, the probe is left out: its share could not be told.
 */
export async function pairProbes(
  sidecar: Sidecar,
  metricsUrl: string,
  wanted: number,
  limitSeconds: number,
): Promise<readonly PairedProbe[]> {
  const seen = new Set((await recentProbes(sidecar)).map(({ id }) => id));
  const pairs: PairedProbe[] = [];
  const deadline = performance.now() + limitSeconds * 1000;
  let before = await fetchPage(metricsUrl);
  const undisturbed = (): number => pairs.filter(({ record }) => !record.disturbed).length;
  while (undisturbed() < wanted) {
    if (performance.now() > deadline) {
      throw new Error(
        `${undisturbed()} undisturbed of ${pairs.length} pairs in ${limitSeconds} s, ${wanted} were wanted`,
      );
    }
    await sleep(250);
    const fresh = (await recentProbes(sidecar)).filter(({ id }) => !seen.has(id));
    const [record] = fresh;
    if (record === undefined) continue;
    for (const { id } of fresh) seen.add(id);
    const page = await pageAfterRequest(metricsUrl, before);
    const alone = fresh.length === 1 && increase(before, page, STARTED) === 1 && increase(before, page, FINISHED) === 1;
    if (alone) {
      const truth = {
        ttftSeconds: increase(before, page, SUMS.ttftSeconds),
        decodeSeconds: increase(before, page, SUMS.decodeSeconds),
        promptTokens: increase(before, page, SUMS.promptTokens),
        generationTokens: increase(before, page, SUMS.generationTokens),
      };
      pairs.push({ record, truth });
    }
    before = page;
  }
  return pairs;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('the median of nothing');
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
