import type { Clock } from '../clock.ts';
import type { MonotonicInstant } from '../units.ts';
import type { ApiDialect, ReadingLimits } from './apis/api.ts';
import { type Body, type BodyKind, bodyKind, createBody, mediaType } from './body.ts';
import { createDeadlines, type DeadlineReason, type DeadlineTimers } from './deadlines.ts';
import { type BodyDecoder, createDecoder, isCompressed } from './decode.ts';
import type { Deadlines } from './profile.ts';
import type { ReadingProgress, ReadingResult } from './reading.ts';
import { sniffEvents, sniffLines } from './sniff.ts';
import type { StopSignal } from './stop.ts';
import type { ConnectStep } from './transport-address.ts';
import type {
  Call,
  ConnectionFacts,
  ExchangeSink,
  Transport,
  TransportFailure,
  TransportRequest,
} from './transport-types.ts';

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
  readonly limits: ReadingLimits;
}

/** One event of a few kilobytes is a token; what is larger than this is no answer to a probe. */
export const READING_LIMITS: ReadingLimits = {
  eventBytes: 1024 * 1024,
  streamBytes: 16 * 1024 * 1024,
  timelineEntries: 256,
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What is noted while the exchange goes on. */
type Notes = Mutable<Omit<ExchangeFacts, 'ending' | 'endedAt' | 'kind' | 'result' | 'text'>>;

const nothingYet = (): Notes => ({
  setUp: { step: null, addresses: [] },
  connection: null,
  requestAt: null,
  writtenAt: null,
  headersAt: null,
  status: null,
  headers: {},
  compressed: false,
});

function openBody(plan: ExchangePlan, status: number, headers: Notes['headers'], requestAt: Notes['requestAt']): Body {
  const { streamTypes, createReading } = plan.dialect;
  const declared = bodyKind(status, mediaType(headers['content-type']), streamTypes);
  const sniff = streamTypes.includes('text/event-stream') ? sniffEvents : sniffLines;
  return createBody(declared, sniff, () => createReading(plan.limits, requestAt ?? undefined));
}

/** The facts of a probe that never came to an exchange. */
export const noExchange = (endedAt: MonotonicInstant): ExchangeFacts => ({
  ...nothingYet(),
  kind: null,
  result: null,
  text: '',
  ending: { kind: 'unsent' },
  endedAt,
});

/** A class, as each event of an answer passes through it: all that it needs then is in one place. */
class Exchange implements ExchangeSink {
  private readonly plan: ExchangePlan;
  private readonly clock: Clock;
  private readonly signal: StopSignal | undefined;
  private readonly resolve: (facts: ExchangeFacts) => void;
  private readonly deadlines: DeadlineTimers;
  private readonly onAbort = (): void => this.settle({ kind: 'aborted' });
  private notes = nothingYet();
  private body: Body | null = null;
  /** Null for a body that is not compressed. */
  private decoder: BodyDecoder | null = null;
  private call: Call | null = null;
  private broken: TransportFailure | null = null;
  private settled = false;

  constructor(plan: ExchangePlan, clock: Clock, signal: StopSignal | undefined, resolve: Exchange['resolve']) {
    this.plan = plan;
    this.clock = clock;
    this.signal = signal;
    this.resolve = resolve;
    this.deadlines = createDeadlines(plan.deadlines, clock, (what) =>
      this.settle(what === 'grace' ? { kind: 'graced' } : { kind: 'deadline', reason: what }),
    );
  }

  start(transport: Transport): void {
    if (this.signal?.aborted) {
      this.onAbort();
      return;
    }
    this.signal?.addEventListener('abort', this.onAbort, { once: true });
    this.call = transport.send(this.plan.request, this);
    if (this.settled) this.call.abort();
  }

  connecting(at: MonotonicInstant): void {
    this.notes = nothingYet();
    this.deadlines.connecting(at);
  }

  reached(step: ConnectStep, address: string | null): void {
    const { addresses } = this.notes.setUp;
    this.notes.setUp = { step, addresses: address === null ? addresses : [...addresses, address] };
  }

  requestStarted(at: MonotonicInstant, connection: ConnectionFacts): void {
    this.notes.requestAt = at;
    this.notes.connection = connection;
    this.deadlines.requestStarted(at);
  }

  requestWritten(at: MonotonicInstant): void {
    this.notes.writtenAt = at;
  }

  headers(at: MonotonicInstant, status: number, headers: Notes['headers']): void {
    const { notes, deadlines } = this;
    const body = openBody(this.plan, status, headers, notes.requestAt);
    notes.headersAt = at;
    notes.status = status;
    notes.headers = headers;
    notes.compressed = isCompressed(headers['content-encoding']);
    this.body = body;
    deadlines.headersReceived();
    if (body.kind === 'error') deadlines.grace(at);
    if (notes.compressed) this.decode(at, headers['content-encoding']);
  }

  data(at: MonotonicInstant, bytes: Uint8Array): void {
    if (this.decoder === null) this.read(at, bytes);
    else this.decoder.push(at, bytes);
  }

  ended(at: MonotonicInstant): void {
    if (this.decoder === null) this.over(at);
    else this.decoder.end(at);
  }

  failed(at: MonotonicInstant, failure: TransportFailure): void {
    this.broken = failure;
    // Bytes may still be with the decoder, the terminal marker among them.
    this.ended(at);
  }

  private decode(at: MonotonicInstant, encoding = ''): void {
    this.decoder = createDecoder(encoding, {
      data: (stamp, bytes) => this.read(stamp, bytes),
      ended: (stamp) => this.over(stamp),
      broken: (stamp) => this.settle({ kind: 'encoding', encoding }, stamp),
    });
    if (this.decoder === null) this.settle({ kind: 'encoding', encoding }, at);
  }

  private read(at: MonotonicInstant, bytes: Uint8Array): void {
    if (!this.settled && this.body !== null) this.follow(at, this.body.push(at, bytes));
  }

  /** Nothing more comes, and nothing is with the decoder. */
  private over(at: MonotonicInstant): void {
    const { body, broken } = this;
    // What was cut off has no end that would complete its last event.
    if (broken === null && body !== null) this.follow(at, body.end(at));
    this.settle(broken === null ? { kind: 'ended' } : { kind: 'broken', failure: broken }, at);
  }

  private follow(at: MonotonicInstant, progress: ReadingProgress): void {
    if (progress.tokenChunks > 0) this.deadlines.tokensReceived(at);
    if (progress.terminal) this.deadlines.grace(at);
    if (progress.failed) this.settle({ kind: 'stopped' }, at);
  }

  private settle(ending: Ending, endedAt = this.clock.monotonic()): void {
    if (this.settled) return;
    this.settled = true;
    this.deadlines.stop();
    this.signal?.removeEventListener('abort', this.onAbort);
    this.decoder?.destroy();
    this.call?.abort();
    const { notes, body } = this;
    this.resolve({
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
  }
}

/**
 * Sends one request and follows its answer until the verdict can be given: the end of the body, a deadline, a broken
 * connection, or `signal`. Always resolves; then its timers, listeners and, unless it is kept alive, its socket are gone.
 */
export const runExchange = (
  plan: ExchangePlan,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  signal?: StopSignal,
): Promise<ExchangeFacts> => new Promise((resolve) => new Exchange(plan, clock, signal, resolve).start(transport));
