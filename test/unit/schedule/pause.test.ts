import { describe, expect, it } from 'vitest';
import { createKillSwitch } from '../../../src/schedule/pause.ts';

const none = { all: false, targets: new Set<string>() };

describe('kill switch', () => {
  it('pauses what the configuration says: everything, or one target', () => {
    const one = createKillSwitch({ all: false, targets: new Set(['vllm']) });
    expect([one.isPaused('vllm'), one.isPaused('sglang')]).toEqual([true, false]);
    expect(createKillSwitch({ ...none, all: true }).isPaused('sglang')).toBe(true);
  });

  it('pulled by hand it stops everything, and holds over a reload until it is let go', () => {
    const killSwitch = createKillSwitch(none);
    killSwitch.pause(null);
    killSwitch.configure(none);
    expect(killSwitch.isPaused('vllm')).toBe(true);
    killSwitch.resume(null);
    expect(killSwitch.isPaused('vllm')).toBe(false);
  });

  it('stops one target by hand, and lets go that one or all of them', () => {
    const killSwitch = createKillSwitch(none);
    killSwitch.pause('vllm');
    killSwitch.pause('sglang');
    killSwitch.resume('vllm');
    expect([killSwitch.isPaused('vllm'), killSwitch.isPaused('sglang')]).toEqual([false, true]);
    killSwitch.resume(null);
    expect(killSwitch.isPaused('sglang')).toBe(false);
  });

  it('what was stopped as a whole is not let go for one target', () => {
    const killSwitch = createKillSwitch(none);
    killSwitch.pause(null);
    killSwitch.resume('vllm');
    expect(killSwitch.isPaused('vllm')).toBe(true);
  });

  it('what the configuration pauses is not let go by hand', () => {
    const killSwitch = createKillSwitch({ ...none, all: true });
    killSwitch.resume(null);
    expect(killSwitch.isPaused('vllm')).toBe(true);
  });
});
