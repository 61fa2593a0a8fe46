import { execFile } from 'node:child_process';
import { cpus, platform, release, totalmem } from 'node:os';
import type { EngineView } from '../engine/types.ts';
import type { UnixTime } from '../units.ts';
import { buildDependencies, buildVersion } from '../version.ts';
import type { PreparedLoad } from './load-types.ts';
import { PHASES_OF_RUN, type RunMetadata } from './types.ts';

function git(...args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', args, { timeout: 5000 }, (error, stdout) => resolve(error === null ? stdout.trim() : null));
  });
}

/** The commit of the working directory: that is where whatever is being tuned usually lies. Null outside of one. */
async function readGit(): Promise<RunMetadata['git']> {
  const commit = await git('rev-parse', 'HEAD');
  if (commit === null) return null;
  const changes = await git('status', '--porcelain', '--untracked-files=no');
  return { commit, dirty: changes !== '' };
}

function host(): RunMetadata['host'] {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    platform: `${platform()} ${release()} ${process.arch}`,
  };
}

/** What the engine tells of itself; the view adds what only its metrics page says. */
export function engineOf({ discovery, facts }: PreparedLoad, view: EngineView | null): RunMetadata['engine'] {
  const name = facts.engine ?? view?.engine ?? null;
  if (name === null && discovery === null) return null;
  const capacities = (view?.series ?? []).flatMap(({ kvCapacityTokens }) => kvCapacityTokens ?? []);
  return {
    name: name ?? 'unknown',
    version: facts.version ?? view?.version ?? null,
    cacheConfig: view?.cacheConfig ?? {},
    kvCapacityTokens: capacities.length === 0 ? null : capacities.reduce((sum, tokens) => sum + tokens, 0),
    maxModelLength: discovery?.maxModelLength ?? null,
    models: discovery?.models ?? [],
  };
}

const emptyPhases = (): RunMetadata['phases'] =>
  Object.fromEntries(PHASES_OF_RUN.map((phase) => [phase, { from: null, to: null }])) as RunMetadata['phases'];

/** The metadata of a run that begins now. */
export async function firstMetadata(prepared: PreparedLoad, startedAt: UnixTime): Promise<RunMetadata> {
  const { calibration, plan, warnings } = prepared;
  return {
    format: 1,
    tool: { ...buildVersion(), node: process.version, dependencies: buildDependencies() },
    plan,
    origin: new Date(startedAt * 1000).toISOString(),
    host: host(),
    engine: engineOf(prepared, null),
    git: await readGit(),
    measuredPromptTokens: calibration?.measuredPromptTokens ?? null,
    phases: emptyPhases(),
    clientCpuSeconds: null,
    ended: 'running',
    notes: [...warnings, ...(calibration?.notes ?? [])],
  };
}
