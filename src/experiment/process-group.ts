import { spawn } from 'node:child_process';
import { type Clock, sleep } from '../clock.ts';
import { elapsed, seconds } from '../units.ts';

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: nobody is left.
    return false;
  }
}

export const groupLives = (group: number): boolean => signalGroup(group, 0);

/** Asks all processes of the group to end, waits, and kills what is left: engines have children that outlive them. */
export async function endGroup(group: number, stopSeconds: number, clock: Clock): Promise<void> {
  signalGroup(group, 'SIGTERM');
  const began = clock.monotonic();
  while (groupLives(group) && elapsed(began, clock.monotonic()) < stopSeconds) await sleep(clock, seconds(0.1));
  signalGroup(group, 'SIGKILL');
}

// `cat` ends when the other end of its input is closed, which the kernel does however this program ends.
const GUARD = `
cat >/dev/null
kill -TERM -"$1" 2>/dev/null || exit 0
left=$2
while [ "$left" -gt 0 ] && kill -0 -"$1" 2>/dev/null; do sleep 1; left=$((left - 1)); done
kill -KILL -"$1" 2>/dev/null
`;

/**
 * A small process outside our own group that ends `group` when this program is gone, also after SIGKILL, which nothing
 * inside this program could answer.
 */
export function guardGroup(group: number, stopSeconds: number): { release(): void } {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', String(group), String(Math.ceil(stopSeconds))], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  // Number of a group that is gone may be given to another: the guard goes first.
  return { release: () => void (guard.pid === undefined ? false : signalGroup(guard.pid, 'SIGKILL')) };
}
