import type { Step } from './scripted-server.ts';

/** The shorthand of OpenAI streams: a chunk with a delta, a finish reason, usage, the end marker. */
const frame = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`;

export const C = (delta: object): string => frame({ choices: [{ index: 0, delta, finish_reason: null }] });
export const F = (reason: string): string => frame({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
export const U = (prompt: number, completion: number, more: object = {}): string =>
  frame({
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more },
  });
export const D = 'data: [DONE]\n\n';
/** A chunk with one piece of text. */
export const token = (text: string): string => C({ content: text });

export const EVENT_STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

const bytesOf = (data: string | Uint8Array): Buffer => Buffer.from(data as string);

/** One HTTP chunk. */
export const chunk = (data: string | Uint8Array): Uint8Array => {
  const bytes = bytesOf(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};
export const LAST_CHUNK = '0\r\n\r\n';

export type Part = readonly [atMs: number, data: string | Uint8Array];

/** Headers at `headersAtMs`, the parts as HTTP chunks at their times, and no end. */
export function openStream(parts: readonly Part[], headersAtMs = 0): readonly Step[] {
  return [{ atMs: headersAtMs, act: EVENT_STREAM }, ...parts.map(([atMs, data]) => ({ atMs, act: chunk(data) }))];
}

/** The same, ended in good order right after the last part. */
export function stream(parts: readonly Part[], headersAtMs = 0): readonly Step[] {
  const endAtMs = Math.max(headersAtMs, ...parts.map(([atMs]) => atMs));
  return [...openStream(parts, headersAtMs), { atMs: endAtMs, act: LAST_CHUNK }];
}

/** A whole response with a body of known length. */
export function respond(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  atMs = 0,
): readonly Step[] {
  const bytes = bytesOf(body);
  const fields = Object.entries({ ...headers, 'Content-Length': String(bytes.length) });
  const head = `HTTP/1.1 ${status} Status\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return [{ atMs, act: Buffer.concat([Buffer.from(head), bytes]) }];
}

export const respondJson = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  respond(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));

/** A short answer that every probe should find good. */
export const GOOD_STREAM: readonly Step[] = stream([
  [0, C({ role: 'assistant', content: '' })],
  [5, token('A')],
  [15, token('B')],
  [20, F('stop') + U(9, 2) + D],
]);
