import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../log.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import type { Dialect } from './dialects/dialect.ts';
import { wantedNames } from './dialects/names.ts';
import { DIALECTS } from './dialects/table.ts';
import { createFetcher, type FetchedPage, type FetchFailure, type FetchPage } from './fetch.ts';
import type { FetchTls } from './fetch-agent.ts';
import { createEngineState, type EngineState } from './state.ts';
import type { EngineName, EnginePoller, EngineSample, EngineView } from './types.ts';
import { pageUrl } from './urls.ts';

export interface EnginePollerOptions {
  readonly target: string;
  /** The target's base URL; may end in /v1. */
  readonly url: URL;
  readonly engine: EngineName | 'auto';
  /** Null: the engine's usual path. An unknown engine without this is not polled. */
  readonly metricsUrl: URL | null;
  /** Null: the engine's own default. */
  readonly everySeconds: Seconds | null;
  readonly staleAfterSeconds: Seconds;
  readonly peakWindowSeconds: Seconds;
  readonly hangAfterSeconds: Seconds;
  readonly maxBytes: number;
  /** Read the engine's own latency histograms, too. */
  readonly histograms: boolean;
  readonly requestTimeoutSeconds?: Seconds;
  /** What the discovery found; shown, not used. */
  readonly version?: string | null;
  /** Sent when the page is on the target's origin. */
  readonly apiKey?: () => string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: FetchTls | null;
}

export interface EnginePollerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads a page; defaults to a GET of its own. */
  readonly fetchPage?: FetchPage;
}

interface PageSource {
  readonly read: FetchPage;
  /** Ends a read that is under way; `reading` settles soon after. A source from outside is its owner's to end. */
  close(reading: Promise<unknown> | null): Promise<void>;
}

const expectedOf = (engine: EngineName | 'auto'): EngineName | null =>
  engine === 'auto' || engine === 'unknown' ? null : engine;

const dialectOf = (engine: EngineName | null): Dialect | null =>
  DIALECTS.find((dialect) => dialect.engine === engine) ?? null;

function pageSource(options: EnginePollerOptions, deps: EnginePollerDeps, dialect: Dialect | null): PageSource {
  if (deps.fetchPage !== undefined) return { read: deps.fetchPage, close: async () => {} };
  const fetcher = createFetcher(
    {
      origin: options.url.origin,
      apiKey: options.apiKey ?? (() => null),
      headers: options.headers ?? {},
      timeoutSeconds: options.requestTimeoutSeconds ?? seconds(dialect?.timeoutSeconds ?? 5),
      maxBytes: options.maxBytes,
      tls: options.tls ?? null,
    },
    { clock: deps.clock },
  );
  return {
    read: fetcher.page,
    close: async (reading) => {
      await fetcher.close();
      await reading;
    },
  };
}

/** The timetable and the single flight around an `EngineState`. */
class Poller implements EnginePoller {
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly url: URL | null;
  private readonly source: PageSource;
  private readonly state: EngineState;
  private readonly wants: (name: string) => boolean;
  private timer: Timer | null = null;
  private due: MonotonicInstant | null = null;
  private inFlight: Promise<EngineSample> | null = null;
  /** A poll that somebody asked for while another was in flight; all who ask meanwhile share it. */
  private next: Promise<EngineSample> | null = null;
  private closed = false;

  constructor(options: EnginePollerOptions, deps: EnginePollerDeps) {
    const expected = expectedOf(options.engine);
    this.clock = deps.clock;
    this.log = deps.log.child({ target: options.target });
    this.url = pageUrl(options.url, options.metricsUrl, dialectOf(expected));
    this.source = pageSource(options, deps, dialectOf(expected));
    this.wants = wantedNames(options.histograms);
    this.state = createEngineState(
      { ...options, expected, expectedDialect: dialectOf(expected), polled: this.url !== null },
      { clock: deps.clock, log: this.log },
    );
  }

  start(): void {
    if (this.url === null || this.due !== null || this.closed) return;
    this.due = this.clock.monotonic();
    this.arm();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    this.timer = null;
    await this.source.close(this.inFlight);
  }

  view(): EngineView {
    return this.state.view();
  }

  samplesBetween(from: MonotonicInstant, to: MonotonicInstant): readonly EngineSample[] {
    return this.state.samplesBetween(from, to);
  }

  pollNow(): Promise<EngineSample> {
    if (this.url === null || this.closed || !this.state.mayReadNow()) return Promise.resolve(this.state.lastSample());
    if (this.inFlight === null) return this.poll();
    // The one in flight may have been answered before the moment that the caller wants to see.
    this.next ??= this.inFlight.then(() => {
      this.next = null;
      return this.closed ? this.state.lastSample() : this.poll();
    });
    return this.next;
  }

  private poll(): Promise<EngineSample> {
    this.inFlight ??= this.readPage().finally(() => {
      this.inFlight = null;
    });
    return this.inFlight;
  }

  private async readPage(): Promise<EngineSample> {
    const began = this.clock.monotonic();
    const result = await this.fetch();
    if (this.closed) return this.state.lastSample();
    try {
      return this.state.take(result, elapsed(began, this.clock.monotonic()));
    } catch (error) {
      // A fault of ours in reading one page: it must neither stop the timetable nor the program.
      this.log.error(
        { error: error instanceof Error ? error.message : 'unknown' },
        'engine page could not be taken in',
      );
      return this.state.lastSample();
    }
  }

  private async fetch(): Promise<FetchedPage | FetchFailure> {
    if (this.url === null) return { ok: false, reason: 'connect', status: null, message: 'there is no page to read' };
    try {
      return await this.source.read(this.url, this.wants);
    } catch {
      // A source returns failures; one that throws is broken, and must not stop the timetable.
      return { ok: false, reason: 'connect', status: null, message: 'the page could not be read' };
    }
  }

  /** The timetable is absolute: a slow answer drops the ticks it covers and shifts none. */
  private arm(): void {
    if (this.closed || this.due === null) return;
    const delay = elapsed(this.clock.monotonic(), this.due);
    this.timer = this.clock.setTimer(delay, () => this.tick());
  }

  private tick(): void {
    if (this.closed || this.due === null) return;
    if (this.inFlight === null) void this.poll();
    const every = this.state.everySeconds();
    const late = elapsed(this.due, this.clock.monotonic());
    const missed = Math.max(0, Math.floor(late / every));
    this.due = after(this.due, seconds((missed + 1) * every));
    this.arm();
  }
}

/**
 * The sampler of one engine: reads its page on a timetable of its own, at the engine's default interval unless told
 * otherwise, and keeps what the exporter shows and what causes are found from.
 */
export const createEnginePoller = (options: EnginePollerOptions, deps: EnginePollerDeps): EnginePoller =>
  new Poller(options, deps);
