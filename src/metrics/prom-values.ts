import { Counter, Histogram } from 'prom-client';

/** An exemplar as prom-client keeps it. */
export interface PromExemplar {
  readonly labelSet: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestamp?: number;
}

/** Takes one sample of a series, in the order of the page. */
export type TakeSample = (value: number, exemplar: PromExemplar | null) => void;

interface CounterState {
  readonly value: number;
  readonly exemplar?: PromExemplar | null;
}

interface HistogramState {
  readonly bucketValues: Readonly<Record<number, number>>;
  readonly bucketExemplars?: Readonly<Record<number, PromExemplar | null>>;
  readonly sum: number;
  readonly count: number;
}

// The key under which prom-client keeps the exemplar of the +Inf bucket.
const ABOVE_ALL = -1;

/**
 * A counter whose values can be read as they are. prom-client's own `get()` is asynchronous and makes an object with a
 * copy of its labels for each sample, which was a quarter of the time of a rendering. The states are not in
 * its types: its version is pinned, and tests compare both.
 */
export class ReadableCounter extends Counter<string> {
  declare private readonly hashMap: Readonly<Record<string, CounterState>>;

  eachSample(take: TakeSample): void {
    for (const { value, exemplar } of Object.values(this.hashMap)) take(value, exemplar ?? null);
  }
}

/** A histogram whose values can be read as they are: for each series its buckets, its sum and its count. */
export class ReadableHistogram extends Histogram<string> {
  declare private readonly hashMap: Readonly<Record<string, HistogramState>>;
  declare private readonly upperBounds: readonly number[];

  eachSample(take: TakeSample): void {
    for (const { bucketValues, bucketExemplars, sum, count } of Object.values(this.hashMap)) {
      let below = 0;
      for (const bound of this.upperBounds) {
        below += bucketValues[bound] ?? 0;
        take(below, bucketExemplars?.[bound] ?? null);
      }
      take(count, bucketExemplars?.[ABOVE_ALL] ?? null);
      take(sum, null);
      take(count, null);
    }
  }
}
