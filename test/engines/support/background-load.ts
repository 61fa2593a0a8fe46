import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  readonly url: string;
  readonly model: string;
  /** Streams kept going at the same time. */
  readonly streams: number;
  readonly maxTokens: number;
  /** Fields added to each request, for example `ignore_eos`. */
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface BackgroundLoad {
  /** Streams that were answered to their end. */
  completed(): number;
  /** Answers that were refusals or errors, by HTTP status (200 for an error inside a stream). */
  refused(): ReadonlyMap<number, number>;
  /** Ends all streams and waits for them. */
  stop(): Promise<void>;
}

/** Keeps a number of streams busy, each with a prompt of its own so that no prefix cache helps. */
export function startLoad(options: LoadOptions): BackgroundLoad {
  const controller = new AbortController();
  const refusals = new Map<number, number>();
  let completed = 0;
  const refuse = (status: number): void => {
    refusals.set(status, (refusals.get(status) ?? 0) + 1);
  };
  const once = async (stream: number, round: number): Promise<void> => {
    const response = await fetch(`${options.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: options.model,
        prompt: `${stream} ${round} ${'background load of a test '.repeat(6)}`,
        max_tokens: options.maxTokens,
        temperature: 0,
        stream: true,
        ...options.body,
      }),
      signal: controller.signal,
    });
    const text = await response.text();
    if (!response.ok || text.includes('"error"')) refuse(response.status);
    else completed += 1;
  };
  const worker = async (stream: number): Promise<void> => {
    for (let round = 0; !controller.signal.aborted; round += 1) {
      // A refused or aborted request is an event of the load, not a failure of the test.
      await once(stream, round).catch(() => sleep(50));
    }
  };
  const workers = Array.from({ length: options.streams }, (_, stream) => worker(stream));
  return {
    completed: () => completed,
    refused: () => refusals,
    stop: async () => {
      controller.abort();
      await Promise.all(workers);
    },
  };
}
