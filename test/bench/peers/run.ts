import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { aiperf, guidellm, installed, loadgen, ours, type Peer, plainPython, temporary } from './clients.ts';
import { measurePeer, type PeerRun } from './measure.ts';
import { type PeerResult, renderPeers } from './report.ts';

/**
 * `npm run bench:peers`: our load generator beside others, and writes docs/benchmarks-peers.md. About half an hour on an
 * idle machine. `-- --quick` measures all briefly and prints the report; `--only a,b` takes those whose names begin so;
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
const LIMIT_MS = 1;
const streams = 32;
const [shortSeconds, longSeconds, rampSeconds] = values.quick ? [5, 10, 5] : [10, 40, 12];
const mostStreams = values.quick ? 8 : 512;
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

/** Doubles the streams until the error is beyond the limit twice in a row: once may be the machine. */
async function ramp(peer: Peer): Promise<PeerRun[]> {
  const runs: PeerRun[] = [];
  for (let number = 1; number <= mostStreams; number *= 2) {
    say(`${peer.name}: ${number} streams`);
    const run = await measurePeer(peer, { streams: number, seconds: rampSeconds, tokens: TOKENS });
    runs.push(run);
    if (runs.slice(-2).filter((one) => !(one.ttftErrorMs.p99 <= LIMIT_MS)).length === 2) break;
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

await temporary(async (folder) => {
  const results: PeerResult[] = [];
  for (const peer of peers(folder)) {
    try {
      results.push(await measureAll(peer));
    } catch (error) {
      console.error(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
      missing.push(`${peer.name} (its run failed)`);
    }
  }
  const report = renderPeers({ peers: results, missing, limitMs: LIMIT_MS, command: 'npm run bench:peers' });
  if (values.quick || values.only !== undefined) console.log(report);
  else writeFileSync(REPORT, report);
  if (results.length === 0) process.exitCode = 1;
});
