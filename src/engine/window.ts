import { elapsed, type MonotonicInstant, type Seconds } from '../units.ts';
import { keyText } from './join.ts';
import type { PageSeries } from './normalize.ts';
import { type EngineSample, GAUGE_ROLES, type GaugeRole } from './types.ts';

type Gauges = Partial<Readonly<Record<GaugeRole, number>>>;

export interface GaugeStatistics {
  readonly peaks: Gauges;
  readonly means: Gauges;
}

/** The gauges of every series over the last seconds. */
export interface GaugeWindow {
  add(at: MonotonicInstant, series: readonly PageSeries[]): void;
  /** Highest value and mean of each gauge inside the window that ends at `now`. */
  statistics(key: string, now: MonotonicInstant): GaugeStatistics;
}

interface Point {
  readonly at: MonotonicInstant;
  readonly byKey: ReadonlyMap<string, Gauges>;
}

const MAX_POINTS = 3_600;

export function createGaugeWindow(windowSeconds: Seconds): GaugeWindow {
  const points: Point[] = [];

  const prune = (now: MonotonicInstant): void => {
    while (points.length > MAX_POINTS || (points[0] !== undefined && elapsed(points[0].at, now) > windowSeconds)) {
      points.shift();
    }
  };

  return {
    add(at, series) {
      points.push({ at, byKey: new Map(series.map((one) => [keyText(one), one.gauges])) });
      prune(at);
    },
    statistics(key, now) {
      const peaks: Partial<Record<GaugeRole, number>> = {};
      const means: Partial<Record<GaugeRole, number>> = {};
      for (const role of GAUGE_ROLES) {
        const values = points.flatMap(({ at, byKey }) => {
          const value = byKey.get(key)?.[role];
          return value === undefined || elapsed(at, now) > windowSeconds ? [] : [value];
        });
        if (values.length === 0) continue;
        peaks[role] = Math.max(...values);
        means[role] = values.reduce((sum, value) => sum + value, 0) / values.length;
      }
      return { peaks, means };
    },
  };
}

/** The samples of the last minutes, oldest first. */
export interface SampleRing {
  push(sample: EngineSample): void;
  /** From the last sample before `from` to the last one not after `to`. */
  between(from: MonotonicInstant, to: MonotonicInstant): readonly EngineSample[];
  last(): EngineSample | null;
  all(): readonly EngineSample[];
}

export function createSampleRing(keepSeconds: Seconds): SampleRing {
  const samples: EngineSample[] = [];
  return {
    push(sample) {
      samples.push(sample);
      while (
        samples.length > MAX_POINTS ||
        (samples[0] !== undefined && elapsed(samples[0].at, sample.at) > keepSeconds)
      ) {
        samples.shift();
      }
    },
    between(from, to) {
      const first = samples.findLastIndex((sample) => sample.at < from);
      return samples.slice(Math.max(0, first)).filter((sample) => sample.at <= to);
    },
    last: () => samples.at(-1) ?? null,
    all: () => samples,
  };
}
