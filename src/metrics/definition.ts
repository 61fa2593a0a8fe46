/** The kinds of family that this exporter publishes. An `info` is a gauge of 1 in the text format. */
export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'info';

/** Which thing a family describes: one set of series for each of them. */
export const SCOPES = ['profile', 'target', 'engine', 'exporter'] as const;
export type Scope = (typeof SCOPES)[number];

/** Bounds of a histogram: a list of the configuration, or one that nobody needs to change. */
export type BoundsSource = 'ttftSeconds' | 'tpotSeconds' | 'gapSeconds' | 'durationSeconds' | readonly number[];

/** One metric family: everything that the page, the documentation and the contract tests need to know of it. */
export interface FamilyDefinition {
  /** The name in the text format: counters end with _total, infos with _info. */
  readonly name: string;
  readonly type: FamilyType;
  readonly scope: Scope;
  /** Says from which instant to which, or of what. */
  readonly help: string;
  /** Labels beyond those of the scope, in the order of the page. */
  readonly labels: readonly string[];
  /** For a label whose values form a closed set. All of them exist from the start when `born` says so. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /**
   * `start`: exists as soon as the configuration is known (counters at 0, so that `increase()` sees the first event).
   * `later`: exists only once there is something to say; absent is absent, never 0.
   */
  readonly born: 'start' | 'later';
  readonly bounds?: BoundsSource;
  /** Why these bounds. */
  readonly boundsReason?: string;
}

/** Labels that every series of a scope carries. `dp_rank` is left out where the engine has no ranks. */
export const SCOPE_LABELS: Readonly<Record<Scope, readonly string[]>> = {
  profile: ['target', 'model', 'profile'],
  target: ['target'],
  engine: ['target'],
  exporter: [],
};
