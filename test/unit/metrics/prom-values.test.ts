import { describe, expect, it } from 'vitest';
import { type PromExemplar, ReadableCounter, ReadableHistogram } from '../../../src/metrics/prom-values.ts';

interface Sample {
  readonly value: number;
  readonly exemplar: PromExemplar | null;
}

const configuration = { name: 'test', help: 'for tests', labelNames: ['way'], registers: [], enableExemplars: true };

function read(metric: ReadableCounter | ReadableHistogram): Sample[] {
  const samples: Sample[] = [];
  metric.eachSample((value, exemplar) => samples.push({ value, exemplar }));
  return samples;
}

/** What prom-client itself says, in its order. */
const official = async (metric: ReadableCounter | ReadableHistogram): Promise<Sample[]> =>
  ((await metric.get()).values as unknown as { value: number; exemplar?: PromExemplar | null }[]).map(
    ({ value, exemplar }) => ({ value, exemplar: exemplar ?? null }),
  );

describe('values read from prom-client without its copies', () => {
  it('are those that a counter says, with exemplars', async () => {
    const counter = new ReadableCounter(configuration);
    counter.inc({ labels: { way: 'b' }, value: 0 });
    counter.inc({ labels: { way: 'a' }, value: 3 });
    counter.inc({ labels: { way: 'b' }, value: 2, exemplarLabels: { probe_id: 'p1' } });
    expect(read(counter)).toEqual(await official(counter));
    expect(read(counter).map(({ value }) => value)).toEqual([2, 3]);
    expect(read(counter)[0]?.exemplar?.labelSet).toEqual({ probe_id: 'p1' });
  });

  it('are those that a histogram says: cumulative buckets, +Inf with its exemplar, sum and count', async () => {
    const histogram = new ReadableHistogram({ ...configuration, buckets: [0.1, 1, 2.5] });
    histogram.zero({ way: 'empty' });
    for (const value of [0.05, 0.1, 0.7, 2.5]) histogram.observe({ labels: { way: 'full' }, value });
    histogram.observe({ labels: { way: 'full' }, value: 9, exemplarLabels: { probe_id: 'p2' } });
    expect(read(histogram)).toEqual(await official(histogram));
    expect(read(histogram).map(({ value }) => value)).toEqual([0, 0, 0, 0, 0, 0, 2, 3, 4, 5, 12.35, 5]);
    expect(read(histogram)[9]?.exemplar?.labelSet).toEqual({ probe_id: 'p2' });
  });

  it('are zeros of a histogram without labels before its first sample', async () => {
    const histogram = new ReadableHistogram({ ...configuration, labelNames: [], buckets: [1] });
    expect(read(histogram)).toEqual(await official(histogram));
    expect(read(histogram)).toHaveLength(4);
  });
});
