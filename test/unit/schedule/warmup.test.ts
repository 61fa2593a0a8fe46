import { describe, expect, it } from 'vitest';
import { createWarmup } from '../../../src/schedule/warmup.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

const options = { probes: 2, startAllowanceSeconds: seconds(600) };

describe('warm-up', () => {
  it('lasts until the endpoint is first ready, and then for the first probes of each profile', () => {
    const warmup = createWarmup(options, { clock: manualClock() });
    expect([warmup.admit('cold'), warmup.admit('cold'), warmup.admit('cold')]).toEqual([true, true, true]);
    warmup.markReady();
    expect([warmup.admit('cold'), warmup.admit('cold'), warmup.admit('cold')]).toEqual([true, true, false]);
    expect([warmup.admit('warm'), warmup.admit('warm'), warmup.admit('warm')]).toEqual([true, true, false]);
  });

  it('G-173: an endpoint that refuses connections for its first 8 s is starting, not down', async () => {
    const clock = manualClock();
    const warmup = createWarmup(options, { clock });
    await clock.advance(8);
    expect(warmup.starting()).toBe(true);
    warmup.markReady();
    expect(warmup.starting()).toBe(false);
    expect(warmup.ready()).toBe(true);
  });

  it('G-064: an endpoint that is not ready within its allowance is no longer excused', async () => {
    const clock = manualClock();
    const warmup = createWarmup(options, { clock });
    await clock.advance(601);
    expect(warmup.starting()).toBe(false);
    expect(warmup.ready()).toBe(false);
    expect([warmup.admit('cold'), warmup.admit('cold'), warmup.admit('cold')]).toEqual([true, true, false]);
  });

  it('an engine that restarts later is not warm-up again', async () => {
    const clock = manualClock();
    const warmup = createWarmup({ ...options, probes: 0 }, { clock });
    warmup.markReady();
    await clock.advance(3600);
    warmup.markReady();
    expect(warmup.admit('cold')).toBe(false);
  });
});
