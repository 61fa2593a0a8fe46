import { describe, expect, it } from 'vitest';
import { BACKOFF_DEFAULTS, createBackoff } from '../../../src/schedule/backoff.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

const interval = seconds(5);

describe('back-off', () => {
  it('stays away for as long as the endpoint asks, and no longer than the cap', () => {
    const backoff = createBackoff({ clock: manualClock() });
    backoff.probeEnded('refused', interval, seconds(90));
    expect(backoff.holdOff()).toBe(90);
    backoff.probeEnded('refused', interval, seconds(86_400));
    expect(backoff.holdOff()).toBe(BACKOFF_DEFAULTS.longestSeconds);
  });

  it('G-056: a time in the past, or one that is no number, means the normal schedule and never an earlier probe', () => {
    for (const asked of [0, -5, Number.NaN]) {
      const backoff = createBackoff({ clock: manualClock() });
      backoff.probeEnded('refused', interval, seconds(asked));
      expect(backoff.holdOff()).toBeNull();
    }
  });

  it('without such a wish it doubles from twice the interval up to the cap', async () => {
    const clock = manualClock();
    const backoff = createBackoff({ clock });
    const holds: (number | null)[] = [];
    for (let index = 0; index < 8; index += 1) {
      backoff.probeEnded('refused', interval, null);
      holds.push(backoff.holdOff());
      await clock.advance(301);
    }
    expect(holds).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('lets go after a good probe, and after a failure that has nothing to do with load', async () => {
    for (const end of ['good', 'other'] as const) {
      const clock = manualClock();
      const backoff = createBackoff({ clock });
      backoff.probeEnded('refused', interval, null);
      backoff.probeEnded('refused', interval, null);
      await clock.advance(20);
      expect(backoff.holdOff()).toBeNull();
      backoff.probeEnded(end, interval, null);
      backoff.probeEnded('refused', interval, null);
      expect(backoff.holdOff()).toBe(10);
    }
  });

  it('ignores a Retry-After that came with a timeout', () => {
    const backoff = createBackoff({ clock: manualClock() });
    backoff.probeEnded('timed_out', interval, seconds(0));
    expect(backoff.holdOff()).toBe(10);
  });

  it('G-187: an engine that goes on for 60 s after each hang-up never has more than two of our generations', async () => {
    const clock = manualClock();
    const backoff = createBackoff({ clock });
    const orphans: { readonly from: number; readonly to: number }[] = [];
    // Probes of 5 s that all time out, on a timetable of 5 s.
    for (let tick = 0; tick < 400; tick += 1) {
      if (backoff.holdOff() === null) {
        await clock.advance(5);
        orphans.push({ from: clock.monotonic(), to: clock.monotonic() + 60 });
        backoff.probeEnded('timed_out', interval, null);
      } else await clock.advance(5);
    }
    const atOnce = orphans.map(({ from }) => orphans.filter((other) => other.from <= from && other.to > from).length);
    expect(Math.max(...atOnce)).toBe(2);
    // It does go on looking, at the cap's pace.
    expect(orphans.length).toBeGreaterThan(2000 / (BACKOFF_DEFAULTS.longestSeconds + 10));
  });

  it('G-187: a few timeouts on a slow timetable are held back by the doubling alone', async () => {
    const clock = manualClock();
    const backoff = createBackoff({ clock });
    backoff.probeEnded('timed_out', seconds(60), null);
    expect(backoff.holdOff()).toBe(120);
  });
});
