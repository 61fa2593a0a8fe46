import type { Clock } from '../clock.ts';
import type { MonotonicInstant } from '../units.ts';
import type { ApiDialect } from './apis/api.ts';
import { type Body, type BodyKind, bodyKind, createBody, mediaType } from './body.ts';
import { createDeadlines, type DeadlineReason } from './deadlines.ts';
import { type BodyDecoder, createDecoder, isCompressed } from './decode.ts';
import type { Deadlines } from './profile.ts';
import type { ReadingProgress, ReadingResult } from './reading.ts';
import { sniffEvents, sniffLines } from './sniff.ts';
import type { StopSignal } from './stop.ts';
import type { ConnectStep } from './transport-address.ts';
import type { Call, ConnectionFacts, Transport, TransportFailure, TransportRequest } from './transport-types.ts';

/** How an exchange ended. */
export type Ending =
  /** The body ended in good order. */
  | { readonly kind: 'ended' }
  /** Everything of interest was read; the rest did not come in time. */
  | { readonly kind: 'graced' }
  /** An error object came, or a limit was passed: nothing more was read. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'deadline'; readonly reason: DeadlineReason }
  | { readonly kind: 'broken'; readonly failure: TransportFailure }
  | { readonly kind: 'encoding'; readonly encoding: string }
  | { readonly kind: 'aborted' }
  /** Nothing was sent, through a fault of our own. */
  | { readonly kind: 'unsent' };

/** Everything that happened on the wire for one probe. Null: did not happen. */
export interface ExchangeFacts {
  /** How far the set-up of the connection came, and the addresses that were tried. */
  readonly setUp: { readonly step: ConnectStep | null; readonly addresses: readonly string[] };
  readonly connection: ConnectionFacts | null;
  readonly requestAt: MonotonicInstant | null;
  readonly writtenAt: MonotonicInstant | null;
  readonly headersAt: MonotonicInstant | null;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly compressed: boolean;
  /** How the body was read; null before the headers. */
  readonly kind: BodyKind | null;
  /** What a stream said. */
  readonly result: ReadingResult | null;
  /** The text of any other body, its beginning at least. */
  readonly text: string;
  readonly ending: Ending;
  readonly endedAt: MonotonicInstant;
}

export interface ExchangePlan {
  readonly request: TransportRequest;
  readonly dialect: Pick<ApiDialect, 'streamTypes' | 'createReading'>;
  readonly deadlines: Deadlines;
}

/** One event of a few kilobytes is a token; what is larger than this is no answer to a probe. */
const READING_LIMITS = { eventBytes: 1024 * 1024, streamBytes: 16 * 1024 * 1024, timelineEntries: 256 };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What is noted while the exchange goes on. */
type Notes = Mutable<Omit<ExchangeFacts, 'ending' | 'endedAt' | 'kind' | 'result' | 'text'>> & { body: Body | null };

const nothingYet = (): Notes => ({
  setUp: { step: null, addresses: [] },
  connection: null,
  requestAt: null,
  writtenAt: null,
  headersAt: null,
  status: null,
  headers: {},
  compressed: false,
  body: null,
});

function openBody(plan: ExchangePlan, status: number, headers: Notes['headers'], requestAt: Notes['requestAt']): Body {
  const { streamTypes, createReading } = plan.dialect;
  const declared = bodyKind(status, mediaType(headers['content-type']), streamTypes);
  const sniff = streamTypes.includes('text/event-stream') ? sniffEvents : sniffLines;
  return createBody(declared, sniff, () => createReading(READING_LIMITS, requestAt ?? undefined));
}

/** The facts of a probe that never came to an exchange. */
export function noExchange(endedAt: MonotonicInstant): ExchangeFacts {
  const { body: _, ...nothing } = nothingYet();
  return { ...nothing, kind: null, result: null, text: '', ending: { kind: 'unsent' }, endedAt };
}

/**
 * Sends one request and follows its answer until the verdict can be given: the end of the body, a deadline, a broken
 * connection, or `signal`. Always resolves; then its timers, listeners and, unless it is kept alive, its socket are gone.
 */
export function runExchange(
  plan: ExchangePlan,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  signal?: StopSignal,
): Promise<ExchangeFacts> {
  return new Promise((resolve) => {
    const notes = nothingYet();
    let decoder: BodyDecoder | null = null;
    let call: Call | null = null;
    let broken: TransportFailure | null = null;
    let settled = false;

    const settle = (ending: Ending, endedAt = clock.monotonic()): void => {
      if (settled) return;
      settled = true;
      deadlines.stop();
      signal?.removeEventListener('abort', onAbort);
      decoder?.destroy();
      call?.abort();
      const { body } = notes;
      resolve({
        setUp: notes.setUp,
        connection: notes.connection,
        requestAt: notes.requestAt,
        writtenAt: notes.writtenAt,
        headersAt: notes.headersAt,
        status: notes.status,
        headers: notes.headers,
        compressed: notes.compressed,
        kind: body?.kind ?? null,
        result: body?.result() ?? null,
        text: body?.text() ?? '',
        ending,
        endedAt,
      });
    };
    const onAbort = (): void => settle({ kind: 'aborted' });
    const deadlines = createDeadlines(plan.deadlines, clock, (what) =>
      settle(what === 'grace' ? { kind: 'graced' } : { kind: 'deadline', reason: what }),
    );
    const follow = (at: MonotonicInstant, progress: ReadingProgress): void => {
      if (progress.tokenChunks > 0) deadlines.tokensReceived(at);
      if (progress.terminal) deadlines.grace(at);
      if (progress.failed) settle({ kind: 'stopped' }, at);
    };
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    call = transport.send(plan.request, {
      connecting(at) {
        Object.assign(notes, nothingYet());
        deadlines.connecting(at);
      },
      reached(step, address) {
        const { addresses } = notes.setUp;
        notes.setUp = { step, addresses: address === null ? addresses : [...addresses, address] };
      },
      requestStarted(at, connection) {
        notes.requestAt = at;
        notes.connection = connection;
        deadlines.requestStarted(at);
      },
      requestWritten(at) {
        notes.writtenAt = at;
      },
      headers(at, status, headers) {
        const encoding = headers['content-encoding'];
        const body = openBody(plan, status, headers, notes.requestAt);
        decoder = createDecoder(encoding, {
          data: (stamp, bytes) => {
            if (!settled) follow(stamp, body.push(stamp, bytes));
          },
          ended: (stamp) => {
            // What was cut off has no end that would complete its last event.
            if (broken === null) follow(stamp, body.end(stamp));
            settle(broken === null ? { kind: 'ended' } : { kind: 'broken', failure: broken }, stamp);
          },
          broken: (stamp) => settle({ kind: 'encoding', encoding: encoding ?? '' }, stamp),
        });
        notes.headersAt = at;
        notes.status = status;
        notes.headers = headers;
        notes.body = body;
        notes.compressed = isCompressed(encoding);
        deadlines.headersReceived();
        if (body.kind === 'error') deadlines.grace(at);
        if (decoder === null) settle({ kind: 'encoding', encoding: encoding ?? '' }, at);
      },
      data: (at, bytes) => decoder?.push(at, bytes),
      ended: (at) => decoder?.end(at),
      failed(at, failure) {
        broken = failure;
        // Bytes may still be with the decoder, the terminal marker among them.
        if (decoder === null) settle({ kind: 'broken', failure }, at);
        else decoder.end(at);
      },
    });
    if (settled) call.abort();
  });
}
