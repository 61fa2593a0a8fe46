import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installed as engineInstalled } from '../../engines/support/installs.ts';
import { aiperf } from './client-aiperf.ts';
import { guidellm } from './client-guidellm.ts';
import { ours } from './client-ours.ts';
import { loadgen, plainPython } from './client-python.ts';
import { installed, type Peer, temporary } from './clients.ts';
import { measurePeer, type PeerRun } from './measure.ts';
import { type PeerResult, renderPeers } from './report.ts';
import { measureOnVllm, type VllmRun } from './vllm.ts';

/**
 * `npm run bench:peers`: our load generator beside others, and writes docs/benchmarks-peers.md. About three quarters of an
 * hour on an idle machine. `-- --quick` measures all briefly and prints the report; `--only a,b` takes those whose names begin so;
 * `--loadgen FILE` (or PEERS_LOADGEN) gives the load generator of one file, which is not part of this repository.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    loadgen: { type: 'string' },
  },
});
const REPORT = new URL('../../../docs/benchmarks-peers.md', import.meta.url).pathname;
const TOKENS = 48;
/** Errors of a first token at p99, milliseconds: how many streams does a client hold within each? */
const LIMITS_MS = [1, 2, 5, 10];
/** Short answers, and no fewer streams than give a p99 within the time. */
const RAMP = { tokens: 16, fewest: 4, most: 256 };
const streams = 32;
const [shortSeconds, longSeconds, rampSeconds] = values.quick ? [5, 10, 5] : [10, 40, 12];
const vllmLoad = { streams: 4, seconds: values.quick ? 10 : 40, tokens: TOKENS };
const mostStreams = values.quick ? 8 : RAMP.most;
const missing: string[] = [];
const say = (what: string): void => console.error(`bench: ${what}`);

const isWanted = (name: string): boolean =>
  values.only === undefined || values.only.split(',').some((part) => name.startsWith(part) || part.startsWith(name));

function build(folder: string): string {
  const bundle = join(folder, 'inference-probe.mjs');
  execFileSync(process.execPath, ['scripts/build.mjs', bundle], { stdio: ['ignore', 'ignore', 'inherit'] });
  return bundle;
}

/** Those that can be had here; the others are named. */
function peers(folder: string): Peer[] {
  const found: Peer[] = [];
  if (isWanted('inference-probe')) {
    const bundle = build(folder);
    found.push(ours(bundle, 1), ours(bundle, 2));
  }
  const python = installed('python-clients.sh');
  if (python === null) missing.push('plain aiohttp', 'plain httpx', 'loadgen.py');
  else {
    found.push(plainPython(python, 'aiohttp'), plainPython(python, 'httpx'));
    const script = values.loadgen ?? process.env.PEERS_LOADGEN ?? '';
    if (script !== '') found.push(loadgen(python, script));
    else {
      console.error('SKIPPED: loadgen.py was not given (--loadgen FILE or PEERS_LOADGEN)');
      missing.push('loadgen.py (it was not given)');
    }
  }
  for (const [name, make] of [['aiperf', aiperf] as const, ['guidellm', guidellm] as const]) {
    if (!isWanted(name)) continue;
    const venv = installed('peers.sh', name);
    if (venv === null) missing.push(`${name} (its install failed)`);
    else found.push(make(venv));
  }
  return found.filter(({ name }) => isWanted(name));
}

/** Doubles the streams until the error is beyond the widest limit twice in a row: once may be the machine. */
async function ramp(peer: Peer): Promise<PeerRun[]> {
  const widest = Math.max(...LIMITS_MS);
  const runs: PeerRun[] = [];
  for (let number = RAMP.fewest; number <= mostStreams; number *= 2) {
    say(`${peer.name}: ${number} streams`);
    const run = await measurePeer(peer, { streams: number, seconds: rampSeconds, tokens: RAMP.tokens });
    runs.push(run);
    if (runs.slice(-2).filter((one) => !(one.ttftErrorMs.p99 <= widest)).length === 2) break;
  }
  return runs;
}

async function measureAll(peer: Peer): Promise<PeerResult> {
  const load = { streams, tokens: TOKENS };
  say(`${peer.name}: ${shortSeconds} and ${longSeconds} s with ${streams} streams`);
  const short = await measurePeer(peer, { ...load, seconds: shortSeconds });
  const long = await measurePeer(peer, { ...load, seconds: longSeconds });
  return { name: peer.name, note: peer.note, short, long, ramp: await ramp(peer) };
}

/** The figures of one run; null, said loudly and in the report, when it failed. */
async function tried<T>(what: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    console.error(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
    missing.push(`${what} (the run failed)`);
    return null;
  }
}

async function onVllm(found: readonly Peer[]): Promise<readonly VllmRun[]> {
  const venv = engineInstalled('vllm');
  if (venv !== null) return (await tried('vLLM', () => measureOnVllm(venv, found, vllmLoad, { say, tried }))) ?? [];
  console.error('SKIPPED: vLLM is not installed; test/engines/install/vllm.sh installs it');
  missing.push('anything on vLLM (it was not installed)');
  return [];
}

await temporary(async (folder) => {
  const results: PeerResult[] = [];
  const found = peers(folder);
  for (const peer of found) {
    const result = await tried(peer.name, () => measureAll(peer));
    if (result !== null) results.push(result);
  }
  const vllm = await onVllm(found);
  const report = renderPeers({
    peers: results,
    vllm,
    vllmLoad,
    missing,
    limitsMs: LIMITS_MS,
    rampTokens: RAMP.tokens,
    command: 'npm run bench:peers',
  });
  if (values.quick || values.only !== undefined) console.log(report);
  else writeFileSync(REPORT, report);
  if (results.length === 0) process.exitCode = 1;
});
