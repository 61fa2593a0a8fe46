import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/clock.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

describe('manualClock', () => {
  it('runs timers at their own instants, in order of due time and then of arming', async () => {
    const clock = manualClock(0);
    const ran: string[] = [];
    clock.setTimer(seconds(2), () => ran.push(`b@${clock.monotonic()}`));
    clock.setTimer(seconds(1), () => ran.push(`a@${clock.monotonic()}`));
    clock.setTimer(seconds(2), () => ran.push(`c@${clock.monotonic()}`));
    await clock.advance(3);
    expect(ran).toEqual(['a@1', 'b@2', 'c@2']);
    expect(clock.monotonic()).toBe(3);
  });

  it('runs timers that were armed by promises settled during the advance', async () => {
    const clock = manualClock(0);
    const woke: number[] = [];
    const loop = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn += 1) {
        await sleep(clock, seconds(1));
        woke.push(clock.monotonic());
      }
    };
    const finished = loop();
    await clock.advance(10);
    await finished;
    expect(woke).toEqual([1, 2, 3]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('never runs a cancelled timer, and keeps later ones', async () => {
    const clock = manualClock(0);
    const ran: string[] = [];
    clock.setTimer(seconds(1), () => ran.push('cancelled')).cancel();
    clock.setTimer(seconds(5), () => ran.push('later'));
    await clock.advance(4);
    expect(ran).toEqual([]);
    expect(clock.pendingTimers()).toBe(1);
  });

  it('steps the wall clock without touching the monotonic one', () => {
    const clock = manualClock(10, 1000);
    clock.stepWallClock(-500);
    expect([clock.monotonic(), clock.unix()]).toEqual([10, 500]);
  });
});
