import { sleep } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import { seconds } from '../units.ts';
import { compareFacts, type EndpointFacts, factsOf, forbidden } from './compare-align.ts';
import { compareCell, startCommand, statesText, type Turn, turnsOf } from './compare-order.ts';
import type { CompareEngine, ComparePlan } from './compare-types.ts';
import type { EngineCommand, RunningEngine } from './engine-process.ts';
import { type ExperimentFolder, isComplete } from './experiment-folder.ts';
import type { LoadRequest, PrepareLoad } from './load-types.ts';
import { type CellDependencies, measureCell } from './measure-cell.ts';

export interface CompareDependencies extends CellDependencies {
  readonly startEngine: (command: EngineCommand) => Promise<RunningEngine>;
  /** What is asked of an engine, without level and seed. */
  readonly requestOf: (engine: CompareEngine) => LoadRequest;
}

interface Comparison {
  readonly plan: ComparePlan;
  readonly folder: ExperimentFolder;
  readonly deps: CompareDependencies;
  readonly facts: Map<string, EndpointFacts>;
}

/** Facts of the engines as they become known; stops the comparison at the first that is not aligned with the others. */
function checkAligned({ plan, facts }: Comparison, engine: CompareEngine, found: EndpointFacts): void {
  for (const [name, other] of facts) {
    const refused = name === engine.name ? [] : forbidden(plan, compareFacts([name, engine.name], other, found));
    if (refused.length === 0) continue;
    const what = refused.map((one) => one.message).join('; ');
    const allowed = refused.map((one) => one.what).join(', ');
    throw new ProbeExporterError(
      'CONFIG_INVALID',
      `the sides cannot be compared: ${what}. Make them equal, or write "allow: [${allowed}]" into the experiment file`,
    );
  }
  facts.set(engine.name, found);
}

async function startFor(comparison: Comparison, turn: Turn, name: string): Promise<RunningEngine | null> {
  const { folder, deps } = comparison;
  const { engine } = turn.setup;
  const command = startCommand(turn.setup);
  if (command === null) return null;
  deps.say(`${name}: starting the engine`);
  return await deps.startEngine({
    command,
    url: engine.url,
    readySeconds: engine.readySeconds,
    stopSeconds: engine.stopSeconds,
    logFile: `${folder.path}/engine-${engine.name}-${statesText(turn.setup.states) || 'plain'}-${turn.repeat}.log`,
  });
}

async function measureLevels(comparison: Comparison, turn: Turn): Promise<void> {
  const { plan, folder, deps } = comparison;
  const { engine } = turn.setup;
  const prepare: PrepareLoad = async (request, dependencies) => {
    const prepared = await deps.prepare(request, dependencies);
    checkAligned(comparison, engine, factsOf(prepared));
    return prepared;
  };
  for (const [index, level] of turn.levels.entries()) {
    if (deps.signal.aborted) return;
    if (index > 0) await sleep(deps.clock, seconds(plan.cooldownSeconds), deps.signal);
    const request: LoadRequest = {
      ...deps.requestOf(engine),
      arrival: { kind: 'closed', concurrency: level },
      // The same prompts on all sides; others in each repeat, so that no cache remembers them.
      seed: `${plan.seed}/${level}/${turn.repeat}`,
    };
    await measureCell({ name: compareCell(turn.setup, level, turn.repeat), request }, folder, { ...deps, prepare });
  }
}

async function takeTurn(comparison: Comparison, turn: Turn): Promise<void> {
  const { folder, deps } = comparison;
  const name = `${turn.setup.engine.name} ${statesText(turn.setup.states)} repeat ${turn.repeat}`.replace('  ', ' ');
  let engine: RunningEngine | null;
  try {
    engine = await startFor(comparison, turn, name);
  } catch (error) {
    if (!(error instanceof ProbeExporterError) || error.code !== 'USAGE') throw error;
    if (deps.signal.aborted) return;
    folder.note({ cell: name, message: error.message });
    deps.say(`${name}: ${error.message}`);
    return;
  }
  try {
    await measureLevels(comparison, turn);
  } finally {
    const ended = engine?.ended() ?? null;
    if (ended !== null) folder.note({ cell: name, message: `the engine ended by itself (${ended})` });
    if (engine !== null) deps.say(`${name}: stopping the engine`);
    await engine?.stop();
  }
}

/**
 * Runs a comparison as far as it is not measured yet. Ends early, with what there is, when the signal aborts.
 *
 * @throws ProbeExporterError CONFIG_INVALID when the sides turn out not to be aligned
 */
export async function runComparison(
  plan: ComparePlan,
  folder: ExperimentFolder,
  deps: CompareDependencies,
): Promise<void> {
  const comparison: Comparison = { plan, folder, deps, facts: new Map() };
  for (const turn of turnsOf(plan)) {
    if (deps.signal.aborted) return;
    const left = turn.levels.filter((level) => !isComplete(folder.cell(compareCell(turn.setup, level, turn.repeat))));
    if (left.length === 0) continue;
    await takeTurn(comparison, { ...turn, levels: left });
    await sleep(deps.clock, seconds(plan.cooldownSeconds), deps.signal);
  }
}
