import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_SIMULATOR, type SimEngineOptions, type SimulatorOptions } from '../../../src/sim/options.ts';
import { type Simulator, startSimulator } from '../../../src/sim/server.ts';
import { seconds } from '../../../src/units.ts';

/** Steps of 2 ms: the wire is what these tests look at, not the cost model. */
export const QUICK: SimEngineOptions = {
  ...DEFAULT_SIMULATOR.engine,
  cost: {
    stepSeconds: seconds(0.002),
    prefillTokenSeconds: seconds(0),
    decodeSequenceSeconds: seconds(0),
    kvTokenSeconds: seconds(0),
  },
};

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A simulator on a free port, closed after the test. */
export async function simulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const started = await startSimulator(
    { ...DEFAULT_SIMULATOR, engine: QUICK, model: 'sim', ...options, port: 0 },
    { clock: systemClock(), log: silentLogger() },
  );
  open.push(() => started.close());
  return started;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** How the body ended: by itself, or by the loss of the connection. */
  readonly ended: 'end' | 'lost';
  /** Seconds from sending: to the headers, and to each piece of the body. */
  readonly headersAt: number;
  readonly pieces: readonly { readonly at: number; readonly text: string }[];
  /** Decoded `data:` events, without `[DONE]`. */
  readonly events: readonly StreamEvent[];
  readonly done: boolean;
}

interface StreamEvent {
  readonly id: string;
  readonly object: string;
  readonly choices: readonly {
    readonly text?: string;
    readonly delta?: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number } | null;
  };
  readonly error?: { readonly code: number; readonly type: string };
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hang up this long after the headers. */
  readonly leaveAfterSeconds?: number;
}

const eventsOf = (body: string): readonly StreamEvent[] =>
  body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as StreamEvent);

/** One request on a connection of its own. Resolves when the body has ended or the connection is lost. */
export function call(on: Simulator, path: string, options: CallOptions = {}): Promise<Reply> {
  const begun = performance.now();
  const elapsed = (): number => (performance.now() - begun) / 1000;
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, on.url), {
      method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
      agent: new Agent(),
      headers: { 'content-type': 'application/json', ...options.headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const headersAt = elapsed();
      const { leaveAfterSeconds } = options;
      const timer =
        leaveAfterSeconds === undefined ? undefined : setTimeout(() => sent.destroy(), leaveAfterSeconds * 1000);
      const pieces: { at: number; text: string }[] = [];
      const finish = (ended: 'end' | 'lost'): void => {
        clearTimeout(timer);
        const body = pieces.map((piece) => piece.text).join('');
        const { statusCode = 0, headers } = response;
        const done = body.endsWith('data: [DONE]\n\n');
        resolve({ status: statusCode, headers, body, ended, headersAt, pieces, events: eventsOf(body), done });
      };
      response.setEncoding('utf8');
      response.on('data', (text: string) => void pieces.push({ at: elapsed(), text }));
      response.on('end', () => finish('end'));
      response.on('error', () => finish('lost'));
    });
    sent.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

export const streamBody = (maxTokens: number, more: Readonly<Record<string, unknown>> = {}) => ({
  model: 'sim',
  prompt: 'hello world this is a test',
  max_tokens: maxTokens,
  ignore_eos: true,
  stream: true,
  stream_options: { include_usage: true },
  ...more,
});

/** Asks for a streamed completion of `maxTokens`. */
export const stream = (
  on: Simulator,
  maxTokens: number,
  more: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<Reply> => call(on, '/v1/completions', { body: streamBody(maxTokens, more), ...options });

/** The text of an answer, as far as it came. */
export const textOf = (reply: Reply): string =>
  reply.events.map((event) => event.choices?.[0]?.text ?? event.choices?.[0]?.delta?.content ?? '').join('');

/** Waits until `holds`, which something on its way is about to make true. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within 5 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The value of one series on the metrics page; NaN when it is not there. */
export async function metric(on: Simulator, series: string): Promise<number> {
  const { body } = await call(on, '/metrics');
  const line = body.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}
