import type { ReadingLimits } from '../../src/probe/apis/api.ts';
import { apiDialect } from '../../src/probe/apis/table.ts';
import type { ApiName } from '../../src/probe/outcome.ts';
import type { ReadingProgress, ReadingResult, StreamReading } from '../../src/probe/reading.ts';
import { type MonotonicInstant, monotonicInstant } from '../../src/units.ts';

/** Bytes that arrive at a number of milliseconds after the request. */
export type Step = readonly [atMs: number, bytes: string | Uint8Array];

export const LIMITS: ReadingLimits = { eventBytes: 1 << 20, streamBytes: 16 << 20, timelineEntries: 1000 };

export const atMs = (ms: number): MonotonicInstant => monotonicInstant(ms / 1000);
export const toMs = (instant: number | null): number | null => (instant === null ? null : instant * 1000);
export const toBytes = (bytes: string | Uint8Array): Uint8Array =>
  typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;

const frame = (body: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...body })}\n\n`;

/** A chat chunk with this delta: the C of the case list. */
export const delta = (value: object, more: object = {}): string =>
  frame({ choices: [{ index: 0, delta: value, finish_reason: null }], ...more });
export const content = (text: string, more: object = {}): string => delta({ content: text }, more);
/** A chunk that only has a finish reason: F. */
export const finish = (reason: string): string => frame({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
/** The usage chunk: U. */
export const usage = (prompt: number, completion: number): string =>
  frame({ choices: [], usage: usageOf(prompt, completion) });
export const usageOf = (prompt: number, completion: number): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});
/** `[DONE]`: D. */
export const DONE = 'data: [DONE]\n\n';

export const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

export interface Read {
  readonly result: ReadingResult;
  readonly progress: readonly ReadingProgress[];
}

export function openReading(api: ApiName = 'chat', limits: Partial<ReadingLimits> = {}): StreamReading {
  return apiDialect(api).createReading({ ...LIMITS, ...limits }, atMs(0));
}

/** Reads the steps; the request was handed to the socket at 0. The body ends in good order with the last step. */
export function read(steps: readonly Step[], api: ApiName = 'chat', limits: Partial<ReadingLimits> = {}): Read {
  const reading = openReading(api, limits);
  const progress = steps.map(([ms, bytes]) => reading.push(atMs(ms), toBytes(bytes)));
  progress.push(reading.end(atMs(steps.at(-1)?.[0] ?? 0)));
  return { result: reading.result(), progress };
}

/** Everything that arrives at once, 100 ms after the request. */
export const readAll = (
  body: string | Uint8Array,
  api: ApiName = 'chat',
  limits: Partial<ReadingLimits> = {},
): ReadingResult => read([[100, body]], api, limits).result;

/** Cuts `bytes` at the positions. */
export function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const edges = [0, ...[...positions].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}
