import type { Cause } from '../diagnose/types.ts';
import type { FailureReason, FailureSide } from '../probe/reasons.ts';
import type { FinishedProbe } from '../record.ts';
import type { Seconds, UnixTime } from '../units.ts';

export interface RecentProbesOptions {
  /** Full records kept of good probes, over all targets. */
  readonly successes: number;
  /** Full records kept of failed probes, over all targets: these are the ones that somebody comes looking for. */
  readonly failures: number;
}

export interface ProbeFilter {
  readonly target?: string | undefined;
  readonly profile?: string | undefined;
  readonly outcome?: 'good' | 'failed' | undefined;
}

/** The little that the live page draws of a probe; kept longer than the whole record. */
export interface ProbeSummary {
  /** Counts up with every probe that is added. */
  readonly order: number;
  readonly id: string;
  readonly startedAt: UnixTime;
  readonly outcome: 'good' | 'failed';
  readonly warmup: boolean;
  readonly reason: FailureReason | null;
  readonly side: FailureSide | null;
  readonly ttftSeconds: Seconds | null;
  readonly tpotSeconds: Seconds | null;
  readonly durationSeconds: Seconds | null;
  readonly cause: Cause | null;
  readonly buffered: boolean;
  readonly disturbed: boolean;
}

/** The probes of the last minutes, for people. Bounded; failures are kept longer than successes. */
export interface RecentProbes {
  add(finished: FinishedProbe): void;
  /** Newest first. */
  list(filter: ProbeFilter): readonly FinishedProbe[];
  get(id: string): FinishedProbe | undefined;
  /** Summaries of one target and profile, in the order in which the probes finished. */
  summaries(target: string, profile: string): readonly ProbeSummary[];
  /** Forgets everything of targets that are not in the configuration any more. */
  keepOnly(targets: ReadonlySet<string>): void;
}

// A quarter of an hour at one probe in four seconds.
const MOST_SUMMARIES = 240;

const ownerOf = ({ outcome }: FinishedProbe): string => JSON.stringify([outcome.target, outcome.profile]);

function summarize({ outcome, warmup, diagnosis }: FinishedProbe, order: number): ProbeSummary {
  const failure = outcome.outcome === 'failed' ? outcome.failure : null;
  return {
    order,
    id: outcome.id,
    startedAt: outcome.startedAt,
    outcome: outcome.outcome,
    warmup,
    reason: failure?.reason ?? null,
    side: failure?.side ?? null,
    ttftSeconds: outcome.ttftSeconds,
    tpotSeconds: outcome.buffered ? null : outcome.tpotSeconds,
    durationSeconds: outcome.durationSeconds,
    cause: diagnosis?.cause ?? null,
    buffered: outcome.buffered,
    disturbed: outcome.disturbed,
  };
}

/** Records of one kind. The owner (target and profile) with the most of them loses its oldest when room is needed. */
class Shelf {
  readonly #limit: number;
  readonly #byOwner = new Map<string, FinishedProbe[]>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Puts a probe in; returns the one that had to go. */
  add(finished: FinishedProbe): FinishedProbe | undefined {
    const owner = ownerOf(finished);
    const own = this.#byOwner.get(owner) ?? [];
    own.push(finished);
    this.#byOwner.set(owner, own);
    this.#size += 1;
    return this.#size > this.#limit ? this.#evict() : undefined;
  }

  #evict(): FinishedProbe | undefined {
    let fullest: FinishedProbe[] = [];
    for (const own of this.#byOwner.values()) if (own.length > fullest.length) fullest = own;
    const gone = fullest.shift();
    if (gone !== undefined) this.#size -= 1;
    return gone;
  }

  *all(): Generator<FinishedProbe> {
    for (const own of this.#byOwner.values()) yield* own;
  }

  removeWhere(unwanted: (finished: FinishedProbe) => boolean): readonly FinishedProbe[] {
    const gone: FinishedProbe[] = [];
    for (const [owner, own] of this.#byOwner) {
      const first = own[0];
      if (first === undefined || !unwanted(first)) continue;
      gone.push(...own);
      this.#size -= own.length;
      this.#byOwner.delete(owner);
    }
    return gone;
  }
}

export function createRecentProbes(options: RecentProbesOptions): RecentProbes {
  const good = new Shelf(options.successes);
  const failed = new Shelf(options.failures);
  const byId = new Map<string, FinishedProbe>();
  const summaries = new Map<string, ProbeSummary[]>();
  let order = 0;

  const matches = (filter: ProbeFilter, { outcome }: FinishedProbe): boolean =>
    (filter.target === undefined || outcome.target === filter.target) &&
    (filter.profile === undefined || outcome.profile === filter.profile) &&
    (filter.outcome === undefined || outcome.outcome === filter.outcome);

  return {
    add(finished) {
      const shelf = finished.outcome.outcome === 'good' ? good : failed;
      byId.set(finished.outcome.id, finished);
      const gone = shelf.add(finished);
      if (gone !== undefined) byId.delete(gone.outcome.id);
      const owner = ownerOf(finished);
      const own = summaries.get(owner) ?? [];
      order += 1;
      own.push(summarize(finished, order));
      if (own.length > MOST_SUMMARIES) own.shift();
      summaries.set(owner, own);
    },
    list(filter) {
      const found = [...good.all(), ...failed.all()].filter((finished) => matches(filter, finished));
      return found.sort((a, b) => b.outcome.beganAt - a.outcome.beganAt);
    },
    get: (id) => byId.get(id),
    summaries: (target, profile) => summaries.get(JSON.stringify([target, profile])) ?? [],
    keepOnly(targets) {
      const unwanted = (finished: FinishedProbe): boolean => !targets.has(finished.outcome.target);
      for (const gone of [...good.removeWhere(unwanted), ...failed.removeWhere(unwanted)]) byId.delete(gone.outcome.id);
      for (const owner of [...summaries.keys()]) {
        const [target] = JSON.parse(owner) as [string, string];
        if (!targets.has(target)) summaries.delete(owner);
      }
    },
  };
}
