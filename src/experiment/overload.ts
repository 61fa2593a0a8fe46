import { elasticity, type LevelFigures } from './knee.ts';

const FAILED_RATIO = 0.1;
const FLAT = 0.1;

/**
 * Why doubling the level goes no further; null: it does. Preemptions or many failures end it at once; an engine that
 * only lets requests wait (or says nothing) ends it when two doublings in a row brought no throughput.
 */
export function overloadedBy(levels: readonly LevelFigures[]): string | null {
  const last = levels.at(-1);
  if (last === undefined) return null;
  if ((last.preemptions ?? 0) > 0) return `the engine preempts at ${last.level}`;
  if (last.failedRatio > FAILED_RATIO)
    return `${(last.failedRatio * 100).toFixed(0)} % of the requests fail at ${last.level}`;
  const [a, b, c] = levels.slice(-3);
  if (a === undefined || b === undefined || c === undefined) return null;
  return elasticity(a, b) < FLAT && elasticity(b, c) < FLAT
    ? `two doublings, to ${b.level} and ${c.level}, brought no throughput`
    : null;
}
