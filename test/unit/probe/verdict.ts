import type { ReadingLimits } from '../../../src/probe/apis/api.ts';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import { bodyKind, createBody, mediaType } from '../../../src/probe/body.ts';
import { type Ending, type ExchangeFacts, noExchange } from '../../../src/probe/exchange.ts';
import { type Judgement, judge } from '../../../src/probe/judge.ts';
import type { ApiName } from '../../../src/probe/outcome.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { sniffEvents, sniffLines } from '../../../src/probe/sniff.ts';
import { DEADLINES } from '../../support/probe-rig.ts';
import { atMs, LIMITS, toBytes } from '../../support/streams.ts';

export interface Answer {
  readonly api?: ApiName;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** How the exchange ended; in good order where it is left out. */
  readonly ending?: Ending;
  readonly limits?: ReadingLimits;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const SSE = { 'content-type': 'text/event-stream' };

/** What a probe would make of this answer, which arrived at once. */
export function verdictOn(answer: Answer): Judgement & { readonly reason: string; readonly facts: ExchangeFacts } {
  const { api = 'chat', status = 200, headers = SSE, body: text, ending, limits = LIMITS } = answer;
  const dialect = apiDialect(api);
  const declared = bodyKind(status, mediaType(headers['content-type']), dialect.streamTypes);
  const sniff = api === 'ollama' ? sniffLines : sniffEvents;
  const body = createBody(declared, sniff, () => dialect.createReading(limits, atMs(0)));
  const { failed } = body.push(atMs(100), toBytes(text));
  if (!failed && ending === undefined) body.end(atMs(110));
  const facts: ExchangeFacts = {
    ...noExchange(atMs(110)),
    status,
    headers,
    kind: body.kind,
    result: body.result(),
    text: body.text(),
    ending: ending ?? { kind: failed ? 'stopped' : 'ended' },
  };
  const judged = judge(facts, { place: 'http://engine.test/', deadlines: DEADLINES, dialect, parameters: ['model'] });
  return { ...judged, reason: judged.failure?.reason ?? 'good', facts };
}

/** A JSON answer with this status, and what is to be made of it. */
export type ErrorRow = readonly [status: number, body: object | string, reason: FailureReason];

/** An error as OpenAI's API writes it. */
export const openai = (message: string, more: object = {}): object => ({ error: { message, ...more } });

/** The reason for an answer that calls itself JSON; a string is its body as it is. */
export const reasonFor = (status: number, body: object | string): string =>
  verdictOn({ status, headers: JSON_TYPE, body: typeof body === 'string' ? body : JSON.stringify(body) }).reason;
