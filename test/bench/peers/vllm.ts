import { setTimeout as sleep } from 'node:timers/promises';
import { startVllm } from '../../engines/support/engines.ts';
import { fetchPage, type MetricsPage } from '../../engines/support/metrics-page.ts';
import { type Peer, type Timed, temporary } from './clients.ts';
import { runPeer } from './measure.ts';

/** Means over requests; durations in milliseconds. Null: not told. */
export interface Means {
  readonly requests: number;
  readonly outputTokens: number;
  readonly ttftMs: number;
  readonly tpotMs: number | null;
}

/** One client on a real vLLM: what it says of the requests that it keeps, and what the engine says of all it got. */
export interface VllmRun {
  readonly name: string;
  readonly client: Means;
  readonly engine: Means;
}

interface Hooks {
  say(what: string): void;
  /** Null when the work failed; that is told. */
  tried<T>(what: string, work: () => Promise<T>): Promise<T | null>;
}

export interface Load {
  readonly streams: number;
  readonly seconds: number;
  readonly tokens: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function meansOf(requests: readonly Timed[]): Means {
  const tpots = requests.flatMap(({ tpotSeconds }) => tpotSeconds ?? []);
  return {
    requests: requests.length,
    outputTokens: mean(requests.map(({ outputTokens }) => outputTokens)),
    ttftMs: mean(requests.map(({ ttftSeconds }) => ttftSeconds)) * 1000,
    tpotMs: tpots.length === 0 ? null : mean(tpots) * 1000,
  };
}

function risen(before: MetricsPage, after: MetricsPage): Means {
  const rise = (name: string): number => {
    const value = after.sum(`vllm:${name}`);
    if (value === null) throw new Error(`vLLM's page has no vllm:${name}`);
    return value - (before.sum(`vllm:${name}`) ?? 0);
  };
  const meanMs = (name: string): number => (rise(`${name}_sum`) / rise(`${name}_count`)) * 1000;
  const requests = rise('time_to_first_token_seconds_count');
  return {
    requests,
    outputTokens: rise('generation_tokens_total') / requests,
    ttftMs: meanMs('time_to_first_token_seconds'),
    tpotMs: meanMs('request_time_per_output_token_seconds'),
  };
}

/** The engine writes the end of a request a moment after the client has it. */
async function whenIdle(metricsUrl: string): Promise<MetricsPage> {
  for (let look = 0; look < 100; look += 1) {
    await sleep(300);
    const page = await fetchPage(metricsUrl);
    const left = (page.sum('vllm:num_requests_running') ?? 0) + (page.sum('vllm:num_requests_waiting') ?? 0);
    if (left === 0) return page;
  }
  throw new Error('vLLM did not become idle within half a minute');
}

/** Each client once, one after another, on one vLLM that leaves them a core; the first one warms it up, uncounted. */
export async function measureOnVllm(
  venv: string,
  peers: readonly Peer[],
  load: Load,
  { say, tried }: Hooks,
): Promise<VllmRun[]> {
  const engine = await startVllm({
    venv,
    oneThread: true,
    args: ['--served-model-name', 'bench', '--no-enable-prefix-caching', '--max-model-len', '512'],
  });
  const run = (peer: Peer, seconds: number) =>
    temporary(async (folder) => {
      const before = await whenIdle(engine.metricsUrl);
      const { outcome } = await runPeer(peer, { ...load, seconds, url: engine.url }, folder);
      const after = await whenIdle(engine.metricsUrl);
      return { name: peer.name, client: meansOf(outcome.requests), engine: risen(before, after) };
    });
  try {
    const [first] = peers;
    if (first !== undefined) await run(first, 10);
    const runs: VllmRun[] = [];
    for (const peer of peers) {
      say(`${peer.name}: ${load.seconds} s on vLLM with ${load.streams} streams`);
      const one = await tried(`${peer.name} on vLLM`, () => run(peer, load.seconds));
      if (one !== null) runs.push(one);
    }
    return runs;
  } finally {
    await engine.stop();
  }
}
