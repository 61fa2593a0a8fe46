import type { Report } from '../config/report.ts';
import { parallelismOf, sequenceLimitOf } from './compare-align.ts';
import type { CompareEngine, ComparePlan } from './compare-types.ts';

/** Switches of an engine against those of the matrix: a cell that cannot be set is no cell. */
function checkSwitches(plan: ComparePlan, engine: CompareEngine, index: number, report: Report): void {
  const path = ['engines', index] as const;
  for (const name of plan.switches) {
    const given = engine.switches[name];
    if (engine.start === null)
      report.error([...path, 'name'], `has no start command, so its switch ${name} cannot be set; write start`);
    else if (given === undefined)
      report.error([...path, 'switches'], `${name} is missing; write its arguments for on and off`);
    else if (given.on === given.off)
      report.error([...path, 'switches', name], 'on and off are the same, so there is nothing to compare');
  }
  for (const name of Object.keys(engine.switches)) {
    if (!plan.switches.includes(name))
      report.error([...path, 'switches', name], 'is not in switches at the top; name it there', 'key');
  }
}

function checkAligned(plan: ComparePlan, report: Report): void {
  const [first, ...others] = plan.engines;
  if (first === undefined || first.start === null) return;
  for (const [index, engine] of others.entries()) {
    if (engine.start === null) continue;
    const pairs = [
      ['parallelism', parallelismOf(first.start), parallelismOf(engine.start)],
      ['sequence_limit', sequenceLimitOf(first.start), sequenceLimitOf(engine.start)],
    ] as const;
    for (const [what, a, b] of pairs) {
      if (a === b || plan.allow.includes(what)) continue;
      // Not given is the engine's own default, which only the running engine tells.
      if (what === 'sequence_limit' && (a === null || b === null)) continue;
      report.error(
        ['engines', index + 1, 'start'],
        `${what} is ${b ?? 'not given'} here and ${a ?? 'not given'} in ${first.name}: make them equal, or write "allow: [${what}]"`,
      );
    }
  }
}

/** What the shape of the file cannot say. */
export function checkPlan(plan: ComparePlan, report: Report): void {
  const names = plan.engines.map((engine) => engine.name);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) !== index) report.error(['engines', index, 'name'], 'another engine has the same name');
  }
  if (plan.engines.length === 1 && plan.switches.length === 0)
    report.error(['engines'], 'one engine without switches leaves nothing to compare');
  if (plan.load.windowSeconds <= 2 * plan.load.trimSeconds)
    report.error(['load', 'trim'], 'nothing of the window is left: trim is taken off at both ends');
  for (const [index, engine] of plan.engines.entries()) checkSwitches(plan, engine, index, report);
  checkAligned(plan, report);
}
