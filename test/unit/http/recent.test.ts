import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecentProbes } from '../../../src/http/recent.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { failedProbe, finished, goodProbe } from '../../support/sample-probe.ts';

let clock = 0;
const next = () => {
  clock += 1;
  return { id: `id-${clock}`, beganAt: monotonicInstant(clock) };
};
const good = (target = 'engine', profile = 'cold') => finished(goodProbe({ ...next(), target, profile }));
const failed = (target = 'engine', profile = 'cold') =>
  finished(failedProbe('stalled', { ...next(), target, profile }));

describe('recent probes', () => {
  it('are listed newest first and found by their id', () => {
    const recent = createRecentProbes({ successes: 10, failures: 10 });
    const probes = [good(), failed(), good('other')];
    for (const probe of probes) recent.add(probe);
    expect(recent.list({})).toEqual([...probes].reverse());
    expect(recent.get(probes[1]?.outcome.id ?? '')).toBe(probes[1]);
    expect(recent.list({ outcome: 'good', target: 'engine' })).toEqual([probes[0]]);
    expect(recent.list({ profile: 'warm' })).toEqual([]);
  });

  it('keep a failure while successes come and go', () => {
    const recent = createRecentProbes({ successes: 3, failures: 3 });
    const failure = failed();
    recent.add(failure);
    for (let index = 0; index < 50; index += 1) recent.add(good());
    expect(recent.list({ outcome: 'good' })).toHaveLength(3);
    expect(recent.list({ outcome: 'failed' })).toEqual([failure]);
    expect(recent.get(failure.outcome.id)).toBe(failure);
  });

  it('of a busy target do not push out those of a quiet one', () => {
    const recent = createRecentProbes({ successes: 4, failures: 4 });
    const quiet = good('quiet');
    recent.add(quiet);
    for (let index = 0; index < 20; index += 1) recent.add(good('busy'));
    expect(recent.get(quiet.outcome.id)).toBe(quiet);
    expect(recent.list({ target: 'busy' })).toHaveLength(3);
  });

  it('are bounded whatever comes, and what is listed can be got', () => {
    const owner = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'), fc.boolean());
    fc.assert(
      fc.property(fc.array(owner, { maxLength: 80 }), (owners) => {
        const recent = createRecentProbes({ successes: 5, failures: 7 });
        for (const [target, profile, isGood] of owners)
          recent.add(isGood ? good(target, profile) : failed(target, profile));
        const kept = recent.list({});
        expect(recent.list({ outcome: 'good' }).length).toBe(
          Math.min(5, owners.filter(([, , isGood]) => isGood).length),
        );
        expect(recent.list({ outcome: 'failed' }).length).toBe(
          Math.min(7, owners.filter(([, , isGood]) => !isGood).length),
        );
        expect(kept.every((probe) => recent.get(probe.outcome.id) === probe)).toBe(true);
      }),
    );
  });

  it('leave a summary that outlives the record', () => {
    const recent = createRecentProbes({ successes: 1, failures: 1 });
    const first = good();
    recent.add(first);
    for (let index = 0; index < 300; index += 1) recent.add(good());
    expect(recent.get(first.outcome.id)).toBeUndefined();
    const summaries = recent.summaries('engine', 'cold');
    expect(summaries).toHaveLength(240);
    expect(summaries.at(-1)?.order).toBe(301);
    expect(summaries.every(({ order }, index) => order === 62 + index)).toBe(true);
    expect(recent.summaries('engine', 'warm')).toEqual([]);
  });

  it('of a target that is gone are forgotten', () => {
    const recent = createRecentProbes({ successes: 10, failures: 10 });
    const [stays, goes, alsoGoes] = [good(), good('gone'), failed('gone')];
    for (const probe of [stays, goes, alsoGoes]) recent.add(probe);
    recent.keepOnly(new Set(['engine']));
    expect(recent.list({})).toEqual([stays]);
    expect(recent.get(goes.outcome.id)).toBeUndefined();
    expect(recent.summaries('gone', 'cold')).toEqual([]);
    for (let index = 0; index < 12; index += 1) recent.add(good());
    expect(recent.list({ outcome: 'good' })).toHaveLength(10);
  });
});
