import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { createLoopDelayMonitor } from '../../../src/probe/loop-delay.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A clock whose timers fire only when the loop is said to run; time goes on meanwhile. */
function blockableClock() {
  let now = 100;
  const timers = new Map<object, { due: number; callback: () => void }>();
  const clock: Clock = {
    ...manualClock(),
    monotonic: () => monotonicInstant(now),
    setTimer(delay, callback) {
      const key = {};
      timers.set(key, { due: now + delay, callback });
      return { cancel: () => void timers.delete(key) };
    },
  };
  const runDue = (): void => {
    for (const [key, timer] of [...timers]) {
      if (timer.due > now + 1e-9) continue;
      timers.delete(key);
      timer.callback();
    }
  };
  return {
    clock,
    armed: () => timers.size,
    run(milliseconds: number): void {
      for (let passed = 0; passed < milliseconds; passed += 1) {
        now += 0.001;
        runDue();
      }
    },
    block(milliseconds: number): void {
      now += milliseconds / 1000;
    },
    runDue,
  };
}

describe('the delay of the event loop', () => {
  test('is 0 while the loop runs, and nothing ticks when no probe is in flight', () => {
    const loop = blockableClock();
    const monitor = createLoopDelayMonitor(loop.clock);
    expect(loop.armed()).toBe(0);
    const window = monitor.open();
    loop.run(100);
    expect(window.close()).toBeCloseTo(0, 6);
    expect(loop.armed()).toBe(0);
  });

  test('is the longest block of the window, to one tick', () => {
    const loop = blockableClock();
    const window = createLoopDelayMonitor(loop.clock).open();
    loop.run(25);
    loop.block(80);
    loop.runDue();
    loop.run(30);
    loop.block(400);
    loop.runDue();
    loop.run(20);
    const delay = window.close();
    expect(delay).toBeGreaterThan(0.389);
    expect(delay).toBeLessThanOrEqual(0.4);
  });

  test('counts a block that is not over when the window closes', () => {
    const loop = blockableClock();
    const window = createLoopDelayMonitor(loop.clock).open();
    loop.run(5);
    loop.block(300);
    expect(window.close()).toBeGreaterThan(0.289);
  });

  test('is seen by every window that was open, and by none for longer than it was open', () => {
    const loop = blockableClock();
    const monitor = createLoopDelayMonitor(loop.clock);
    const first = monitor.open();
    loop.run(15);
    loop.block(200);
    const second = monitor.open();
    loop.block(50);
    loop.runDue();
    loop.run(10);
    expect(second.close()).toBeLessThanOrEqual(0.05 + 1e-9);
    expect(first.close()).toBeGreaterThan(0.239);
    const third = monitor.open();
    loop.run(50);
    expect(third.close()).toBeCloseTo(0, 6);
    expect(loop.armed()).toBe(0);
  });
});
