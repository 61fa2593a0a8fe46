import type { CounterRole, EngineName, EngineRole, GaugeRole, HistogramRole } from '../types.ts';

/** Labels that a sample must carry, each with its allowed values; a label that is not there reads as "". */
export type LabelFilter = Readonly<Record<string, readonly string[]>>;

/** Where a quantity is found on the page. Names are sample names as on the wire, without the dialect's prefix. */
export interface Source {
  readonly name: string;
  readonly where?: LabelFilter;
  /** Further samples that are parts of the same quantity and are added where they exist. */
  readonly plus?: readonly string[];
  /** The sample to divide by: used blocks by all blocks. */
  readonly per?: string;
  /** Multiplies the value into the role's unit (seconds, ratio 0..1). */
  readonly scale?: number;
  /** Not used on a page that has this sample, because such an engine version has a better one, perhaps not born yet. */
  readonly unless?: string;
  /** A gauge that holds the events since the engine's last report, then starts again: its changes are counted. */
  readonly sinceReport?: boolean;
}

/** One factor of a product: the value of a sample, or a number written in one of its labels. */
export interface CapacityFactor {
  readonly name: string;
  readonly label?: string;
  readonly where?: LabelFilter;
}

/**
 * One engine's way of writing its metrics: a table, no code. Of each list the first name that is on the page is used;
 * two names of one quantity are never added up.
 */
export interface Dialect {
  readonly engine: EngineName;
  /** Spellings of the prefix, usual one first: pipelines rewrite colons and put their own name in front. */
  readonly prefixes: readonly string[];
  /**
   * How a page of this engine is told: with one of the prefixes there is a name that starts with each of `own`; with a
   * prefix that does not end in a colon also one that starts with any of `any`; and without prefix one that starts with
   * each of `beside`.
   */
  readonly marks: {
    readonly own: readonly string[];
    readonly any: readonly string[];
    readonly beside: readonly string[];
  };
  /** Label of a router that shows its engines' numbers under the engines' names: such a page is no engine's. */
  readonly routerLabel: string | null;
  /** Families of such a router that no engine has: tell its page while it has no engine to repeat. */
  readonly routerMarks: readonly string[];
  readonly gauges: Partial<Readonly<Record<GaugeRole, readonly Source[]>>>;
  readonly counters: Partial<Readonly<Record<CounterRole, readonly Source[]>>>;
  readonly histograms: Partial<Readonly<Record<HistogramRole, readonly Source[]>>>;
  /** Capacity of the KV cache in tokens: the first list whose factors are all there. */
  readonly capacity: readonly (readonly CapacityFactor[])[];
  /** Requests waiting, by reason. */
  readonly waitingByReason: { readonly name: string; readonly label: string } | null;
  /** Labels that name the model, first one present. */
  readonly modelLabels: readonly string[];
  /**
   * Labels that name a data-parallel rank or another replica with a cache of its own; joined with "/" when several. Of a
   * list of labels the first one present is taken.
   */
  readonly rankLabels: readonly (string | readonly string[])[];
  /** Labels of processes that repeat the same quantity (tensor-parallel ranks, pids): the highest counts. */
  readonly replicaLabels: readonly string[];
  /** Series of sub-groups that a total repeats: kept only where the label is empty or missing. */
  readonly totalLabels: readonly string[];
  /** Roles whose series are born with the first event, so that "not there" does not yet mean "not offered". */
  readonly lazy: readonly EngineRole[];
  /** A sample that proves that the page is filled: before it is there, nothing is called unsupported. */
  readonly anchor: string | null;
  /** Samples that move while the engine works, for the hang verdict; all that are there are added up. */
  readonly progress: readonly Source[];
  /** Used where none of `progress` is on the page. */
  readonly progressFallback: readonly Source[];
  /** The engine's own health check makes a token, so that a few tokens prove nothing. */
  readonly healthGenerates: boolean;
  /** `progress` may stand still this long while requests are at work: what is counted when a request ends, say. */
  readonly progressEverySeconds: number;
  /** Gauges may stand still this long in a healthy engine; the hang verdict never comes sooner. */
  readonly refreshSeconds: number;
  readonly sleep: { readonly name: string; readonly label: string; readonly awake: string } | null;
  /** Info metric whose labels describe the cache. */
  readonly cacheInfo: string | null;
  /** Gauges of the engine's configuration, shown beside those labels. */
  readonly cacheGauges: readonly string[];
  /** The page fills up into one that another table reads: nothing on it proves that something is missing. */
  readonly provisional: boolean;
  /** Default poll interval and, for people, its reason. */
  readonly everySeconds: number;
  readonly everyReason: string;
  /** How long one read may take. */
  readonly timeoutSeconds: number;
  /**
   * A read of the page has effects on the engine. Then only the timetable reads it, and only once it is known that it may:
   * by discovery, or because the page was configured.
   */
  readonly readsHaveEffects: boolean;
  /** Paths of the metrics page relative to the base URL, likeliest first. */
  readonly paths: readonly string[];
  /** The port of the page where it is not the API's own. */
  readonly port: number | null;
}

/** SGLang's gateway shows the pages of all its engines as one, at `/engine_metrics`, and tells them apart by this label. */
export const WORKER = 'worker_addr';

/** What most engines have in common. */
export const DIALECT_DEFAULTS = {
  marks: { own: [], any: [''], beside: [] },
  routerLabel: null,
  routerMarks: [],
  gauges: {},
  counters: {},
  histograms: {},
  capacity: [],
  waitingByReason: null,
  modelLabels: ['model_name'],
  rankLabels: [],
  replicaLabels: ['pid'],
  totalLabels: [],
  lazy: [],
  anchor: null,
  progress: [],
  progressFallback: [],
  healthGenerates: false,
  progressEverySeconds: 0,
  refreshSeconds: 0,
  sleep: null,
  cacheInfo: null,
  cacheGauges: [],
  provisional: false,
  everySeconds: 1,
  everyReason: 'reading the page is cheap and without effects; one second shows short peaks',
  timeoutSeconds: 5,
  readsHaveEffects: false,
  paths: ['/metrics'],
  port: null,
} as const satisfies Partial<Dialect>;
