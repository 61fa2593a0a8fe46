import { type Seconds, seconds } from '../units.ts';

/** FNV-1a over UTF-16 code units, then murmur3's finaliser: without it, names that differ in the last digit lie together. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A number in [0, 1) that depends on the parts alone: the same after each restart, on each machine. */
export function stableFraction(...parts: readonly string[]): number {
  // A separator that no name holds keeps ("a", "bc") and ("ab", "c") apart.
  return hash32(parts.join('\u0000')) / 2 ** 32;
}

/** What `phasesOf` needs to know of a profile. */
export interface PhasedProfile {
  readonly name: string;
  /** The phase stays below this: the interval, or what is allowed of a cron slot. */
  readonly windowSeconds: Seconds;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/**
 * The length that all windows are multiples of. Inside it the profiles of one target are spread evenly, so they stay
 * apart in every cycle and not only in the first.
 */
function commonWindow(profiles: readonly PhasedProfile[]): number {
  const milliseconds = profiles.map((profile) => Math.max(1, Math.round(profile.windowSeconds * 1000)));
  return milliseconds.reduce(greatestCommonDivisor, 0) / 1000;
}

/**
 * The phase of each profile inside its slot, in seconds, by profile name.
 *
 * Targets and pods are scattered by the hash, so that a thousand sidecars do not fire together; the profiles of one
 * target are spaced evenly from there, because only one probe may be in flight per target.
 */
export function phasesOf(
  target: string,
  podName: string,
  profiles: readonly PhasedProfile[],
): ReadonlyMap<string, Seconds> {
  const common = commonWindow(profiles);
  const base = stableFraction(target, podName);
  const byHash = [...profiles].sort(
    (a, b) => stableFraction(target, a.name) - stableFraction(target, b.name) || (a.name < b.name ? -1 : 1),
  );
  const phases = new Map<string, Seconds>();
  byHash.forEach((profile, rank) => {
    const inside = ((base + rank / byHash.length) % 1) * common;
    // A longer window holds several common ones: its profile takes one of them, again by hash.
    const cycles = Math.max(1, Math.round(profile.windowSeconds / common));
    const cycle = Math.floor(stableFraction(target, profile.name, podName, 'cycle') * cycles);
    phases.set(profile.name, seconds(cycle * common + inside));
  });
  return phases;
}
