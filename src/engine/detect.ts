import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { type Seconds, seconds } from '../units.ts';
import { type Answer, type Asker, createAsker } from './ask.ts';
import { wantedNames } from './dialects/names.ts';
import { DIALECTS } from './dialects/table.ts';
import { createFetcher, type Fetcher, type FetchFailure } from './fetch.ts';
import type { FetchTls } from './fetch-agent.ts';
import { identifyPage, isReadable } from './identify.ts';
import { engineByDocuments, type Identity, NOTHING_KNOWN, readIdentity } from './identity.ts';
import { type ModelList, readModelList } from './models.ts';
import type { Discovery, EngineName } from './types.ts';
import { baseUrl, below, pageUrl, usualPage } from './urls.ts';

export interface DiscoverOptions {
  /** The target's base URL; may end in /v1. */
  readonly url: URL;
  readonly apiKey: () => string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly engine: EngineName | 'auto';
  /** Null: looked for. */
  readonly metricsUrl: URL | null;
  /** For each of the few requests. */
  readonly timeoutSeconds: Seconds;
  readonly tls?: FetchTls | null;
  /** Ends the asking at once; what was found until then is the result. */
  readonly signal?: AbortSignal;
}

export interface DiscoverDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

/** A metrics page that was found, and whose it is. */
interface FoundPage {
  readonly url: URL;
  /** Null: a page of families that no table knows. */
  readonly engine: EngineName | null;
}

const MAX_BYTES = 32 * 1024 * 1024;

/** APIs to try, most informative first: raw completions need no chat template and honour exact prompt sizes. */
const APIS: Readonly<Record<EngineName, readonly string[]>> = {
  vllm: ['completions', 'chat'],
  sglang: ['completions', 'chat'],
  'tensorrt-llm': ['completions', 'chat'],
  triton: ['completions', 'chat'],
  tgi: ['chat', 'tgi'],
  llamacpp: ['completions', 'chat'],
  lmdeploy: ['completions', 'chat'],
  nim: ['completions', 'chat'],
  dynamo: ['completions', 'chat'],
  'ray-serve': ['completions', 'chat'],
  kserve: ['completions', 'chat'],
  'llm-d-inference-sim': ['completions', 'chat'],
  ollama: ['ollama', 'chat'],
  unknown: ['chat', 'completions'],
};

/**
 * Where a metrics page may be, for an endpoint that nothing is known of. TensorRT-LLM's own path comes first: its
 * `/metrics` is a queue that each reader empties, and only a page at the other path tells that it is TensorRT-LLM.
 */
const UNKNOWN_PATHS = ['/prometheus/metrics', '/metrics', '/v1/metrics'] as const;

const pathsFor = (engine: EngineName | null): readonly string[] =>
  engine === null
    ? UNKNOWN_PATHS
    : [...new Set(DIALECTS.filter((dialect) => dialect.engine === engine).flatMap((dialect) => dialect.paths))];

/** Pages to look at, nearest first; an API below a path (`/openai/v1`) often has its metrics at the root. */
function candidates(base: URL, engine: EngineName | null): readonly URL[] {
  const dialect = DIALECTS.find((one) => one.engine === engine) ?? null;
  const usual = dialect?.port == null ? [] : [usualPage(base, dialect)].filter((url) => url !== null);
  const nested = pathsFor(engine).map((path) => below(base, path));
  const root = base.pathname === '/' ? [] : pathsFor(engine).map((path) => below(new URL(base.origin), path));
  const seen = new Set<string>();
  return [...usual, ...nested, ...root].filter((url) => !seen.has(url.href) && seen.add(url.href));
}

/** A failure that may be over at the next poll, unlike a page that is not there. */
function isPassing({ reason, status }: FetchFailure): boolean {
  if (reason === 'http_status') return status !== null && status >= 500 && status !== 501;
  // Some engines have an empty page before their first request.
  return reason === 'connect' || reason === 'timeout' || reason === 'truncated' || reason === 'empty_page';
}

class Discoverer {
  private readonly wants = wantedNames(false);
  /** Pages that could not be read just now, and may be there for all we know. */
  private readonly late = new Set<string>();
  private readonly options: DiscoverOptions;
  private readonly fetcher: Fetcher;
  private readonly asker: Asker;
  private readonly base: URL;

  constructor(options: DiscoverOptions, fetcher: Fetcher) {
    this.options = options;
    this.fetcher = fetcher;
    this.base = baseUrl(options.url);
    this.asker = createAsker(this.base, fetcher);
  }

  async run(): Promise<Discovery> {
    const told = this.options.engine === 'auto' || this.options.engine === 'unknown' ? null : this.options.engine;
    const listing = await this.asker.get('/v1/models');
    const models = readModelList(listing);
    // Nobody answers at all: asking on would only wait through one deadline after the other.
    if (listing.status === null && this.options.metricsUrl === null) return this.unreachable(told, models);
    if (models.engine !== null) this.asker.note(`the model list is ${models.engine}'s`);
    const hint = told ?? models.engine;
    // Before any page is read: a page of llama.cpp may have to be left alone.
    const early = hint === 'llamacpp' ? await readIdentity('llamacpp', this.asker) : null;
    const page = await this.findPage(hint, early);
    const engine =
      told ?? this.engineOf(page, models) ?? (await this.askFurther(listing, models)) ?? models.likely ?? 'unknown';
    const identity = early ?? (listing.status === null ? NOTHING_KNOWN : await readIdentity(engine, this.asker));
    return this.result(engine, this.pageOf(engine, page), models, identity);
  }

  private async askFurther(listing: Answer, { ids }: ModelList): Promise<EngineName | null> {
    return listing.status === null ? null : engineByDocuments(this.asker, ids.length > 0);
  }

  private unreachable(told: EngineName | null, models: ModelList): Discovery {
    const page = pageUrl(this.base, null, DIALECTS.find((dialect) => dialect.engine === told) ?? null);
    return this.result(told ?? 'unknown', page, models, NOTHING_KNOWN);
  }

  /** A page that nobody can read is of use only where it may fill up: where an engine is known to be there. */
  private pageOf(engine: EngineName, page: FoundPage | null): URL | null {
    if (this.options.metricsUrl !== null) return this.options.metricsUrl;
    if (page !== null) return page.engine !== null || engine !== 'unknown' ? page.url : null;
    return candidates(this.base, engine).find((url) => this.late.has(url.href)) ?? null;
  }

  /** The page knows best; but a worker's or a proxy's page carries its engine's names, and the owner says who serves. */
  private engineOf(page: FoundPage | null, models: ModelList): EngineName | null {
    if (page?.engine === 'vllm' && models.likely === 'dynamo') return 'dynamo';
    // NIM 2.x serves its engine's own page, at NIM's place.
    if (page?.engine != null && page.url.pathname.endsWith('/v1/metrics')) return 'nim';
    return page?.engine ?? models.engine;
  }

  private async findPage(hint: EngineName | null, identity: Identity | null): Promise<FoundPage | null> {
    const given = this.options.metricsUrl;
    if (given !== null) return (await this.look(given, hint)) ?? { url: given, engine: null };
    if (identity?.keepAway != null) {
      this.asker.note(identity.keepAway);
      return null;
    }
    let unrecognised: FoundPage | null = null;
    for (const url of candidates(this.base, hint)) {
      const page = await this.look(url, hint);
      if (page?.engine != null) return page;
      unrecognised ??= page;
    }
    return unrecognised;
  }

  private async look(url: URL, hint: EngineName | null): Promise<FoundPage | null> {
    const result = await this.fetcher.page(url, this.wants);
    const where = url.origin === this.base.origin ? url.pathname : `${url.origin}${url.pathname}`;
    if (!result.ok) {
      this.asker.note(`metrics at ${where}: ${result.reason} (${result.message})`);
      if (isPassing(result)) this.late.add(url.href);
      return null;
    }
    const found = identifyPage(result.page, hint);
    if (isReadable(found)) {
      this.asker.note(`metrics at ${where}: families of ${found.dialect.engine} (${found.prefix || 'no prefix'})`);
      return { url, engine: found.dialect.engine };
    }
    this.asker.note(`metrics at ${where}: ${found.why}, families ${found.families.join(' ')}`);
    return found.why === 'router' ? null : { url, engine: null };
  }

  private result(engine: EngineName, metricsUrl: URL | null, models: ModelList, identity: Identity): Discovery {
    return {
      engine,
      version: identity.version,
      metricsUrl,
      models: models.ids,
      apis: APIS[engine],
      maxModelLength: models.maxModelLength ?? identity.maxModelLength,
      chatTemplate: identity.chatTemplate,
      findings: this.asker.findings,
    };
  }
}

/**
 * Finds out what serves at an endpoint. Asks for documents only: nothing that generates (SGLang's `/health`), wakes or
 * loads (llama.cpp's `/metrics` while it sleeps or routes) or drains (TensorRT-LLM's `/metrics`). Never throws for what
 * an endpoint does; one that cannot be reached is `unknown`, and its findings say why.
 */
export async function discover(options: DiscoverOptions, deps: DiscoverDeps): Promise<Discovery> {
  const fetcher = createFetcher(
    {
      origin: options.url.origin,
      apiKey: options.apiKey,
      headers: options.headers,
      timeoutSeconds: options.timeoutSeconds > 0 ? options.timeoutSeconds : seconds(5),
      maxBytes: MAX_BYTES,
      tls: options.tls ?? null,
    },
    { clock: deps.clock },
  );
  const stop = (): void => void fetcher.close();
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    const discovery = await new Discoverer(options, fetcher).run();
    deps.log.debug({ engine: discovery.engine, findings: discovery.findings }, 'endpoint discovered');
    return discovery;
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await fetcher.close();
  }
}
