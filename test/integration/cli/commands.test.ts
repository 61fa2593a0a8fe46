import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundle, type Finished, type ProcessEnvironment, type Running, start } from '../../support/bundle.ts';

const TARGET = 'targets:\n  - name: a\n    url: http://127.0.0.1:1\n';

// A process namespace of its own needs a privilege that not every machine gives; vitest shows the test as skipped there.
const CAN_UNSHARE = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;

let program: string;
let directory = '';
const running: Running[] = [];

beforeAll(async () => {
  program = await bundle();
  directory = mkdtempSync(join(tmpdir(), 'inference-probe-cli-'));
}, 120_000);
afterEach(() => {
  for (const child of running.splice(0)) child.dispose();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function launch(args: readonly string[], environment: ProcessEnvironment = {}): Running {
  const started = start(process.execPath, [program, ...args], environment);
  running.push(started);
  return started;
}
const run = (args: readonly string[], environment: ProcessEnvironment = {}): Promise<Finished> =>
  launch(args, environment).finished();

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe('the shipped program', () => {
  it('says its version and succeeds', async () => {
    const { code, out } = await run(['--version']);
    expect(out).toMatch(/^inference-probe, version \d+\.\d+\.\d+ \(revision: \w+\)\n {2}node version: v\d+/);
    expect(code).toBe(0);
  });

  it('exits with 2 for a wrong command line', async () => {
    expect(await run(['chek'])).toEqual({
      code: 2,
      out: '',
      err: 'inference-probe: "chek" is not a command; did you mean check?\n',
    });
  });

  it('exits with 1 for a configuration that cannot be used, and says nothing on standard output', async () => {
    const path = file('wrong.yml', 'targets:\n  - name: a\n    url: ftp://x\n');
    expect(await run(['--config.file', path])).toEqual({
      code: 1,
      out: '',
      err: `inference-probe: configuration ${path} is not usable: 1 error\n  ${path}:3:10: targets[0].url: is not an http:// or https:// URL\n`,
    });
  });

  it('writes the whole of a long text to a pipe before it exits', async () => {
    const targets = Array.from({ length: 60 }, (_, index) => `  - {name: t${index}, url: "http://127.0.0.1:1"}\n`);
    const { code, out } = await run(['check', '--config.file', file('many.yml', `targets:\n${targets.join('')}`)]);
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(65_536);
    expect(out).toMatch(/warmup_probes: 1\n$/);
  });
});

describe('serve', () => {
  const serve = (args: readonly string[], environment: ProcessEnvironment = {}): Running =>
    launch(['serve', '--web.listen-address=127.0.0.1:0', ...args], environment);
  const address = async (child: Running): Promise<string> => {
    const [, port] = await child.saying(/"port":(\d+)/);
    return `http://127.0.0.1:${port}`;
  };

  it('listens, is ready although its target is not there, and ends in good order on SIGTERM', async () => {
    const child = serve([], { INFERENCE_PROBE_TARGET_URL: 'http://127.0.0.1:1', INFERENCE_PROBE_MODEL: 'm' });
    const base = await address(child);
    const healthy = await fetch(`${base}/-/healthy`);
    const metrics = await (await fetch(`${base}/metrics`)).text();
    expect(healthy.status).toBe(200);
    expect(metrics).toContain('inference_probe_attempts_total{target="engine",model="m",profile="cold"} 0');
    const asked = performance.now();
    child.signal('SIGTERM');
    expect((await child.finished()).code).toBe(0);
    expect(performance.now() - asked).toBeLessThan(5000);
  });

  it.skipIf(!CAN_UNSHARE)('G-163: as PID 1 of a container it ends within two seconds of SIGTERM', async () => {
    const outer = start('unshare', [
      '--pid',
      '--fork',
      '--kill-child',
      process.execPath,
      program,
      'serve',
      '--web.listen-address=127.0.0.1:0',
    ]);
    running.push(outer);
    await outer.saying(/"msg":"listening"/);
    const inner = Number(readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8'));
    const asked = performance.now();
    process.kill(inner, 'SIGTERM');
    expect((await outer.finished()).code).toBe(0);
    expect(performance.now() - asked).toBeLessThan(2000);
  });

  it('reloads on SIGHUP, and keeps what is running when the new file is wrong', async () => {
    const path = file('live.yml', TARGET);
    const child = serve(['--config.file', path]);
    const base = await address(child);
    const config = async (): Promise<string> => (await fetch(`${base}/config`)).text();
    expect(await config()).toContain('name: a');
    file('live.yml', 'targets: []\n');
    child.signal('SIGHUP');
    await child.saying(/configuration not reloaded, the running one stays/);
    expect(await config()).toContain('name: a');
    expect(await (await fetch(`${base}/metrics`)).text()).toContain(
      'inference_probe_exporter_config_last_reload_successful 0',
    );
    file('live.yml', TARGET.replace('name: a', 'name: b'));
    child.signal('SIGHUP');
    await child.saying(/configuration reloaded/);
    expect(await config()).toContain('name: b');
    expect(await (await fetch(`${base}/metrics`)).text()).toContain(
      'inference_probe_exporter_config_last_reload_successful 1',
    );
  });

  it('reloads on request', async () => {
    const path = file('asked.yml', TARGET);
    const child = serve(['--config.file', path]);
    const base = await address(child);
    expect((await fetch(`${base}/-/reload`, { method: 'POST' })).status).toBe(200);
    file('asked.yml', 'targets: 5\n');
    const refused = await fetch(`${base}/-/reload`, { method: 'POST' });
    expect(refused.status).toBe(500);
    expect(await refused.text()).toContain('targets: must be a list of targets, not a number');
  });

  it('logs what is weak about its configuration, with the place', async () => {
    const child = serve([
      '--log.format=logfmt',
      '--config.file',
      file('weak-live.yml', `profiles: [{name: cold, every: 30s, max_tokens: 8}]\n${TARGET}`),
    ]);
    await child.saying(/level=warn .*key=profiles\[0\]\.max_tokens .*msg="weak configuration"/);
  });

  it('exits with 1 when its port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const bound = other.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const { code, err } = await run([`--web.listen-address=127.0.0.1:${port}`]);
    other.close();
    expect(code).toBe(1);
    expect(err).toMatch(/inference-probe: .*127\.0\.0\.1:\d+/);
  });
});

describe('simulate and demo', () => {
  it('simulate prints its address and ends on SIGINT', async () => {
    const child = launch(['simulate', '--port', '0', '--model', 'toy']);
    const [, url] = await child.saying(/simulated engine: (http:\S+) \(model toy\)/);
    expect(await (await fetch(`${url}/v1/models`)).text()).toContain('toy');
    child.signal('SIGINT');
    expect((await child.finished()).code).toBe(0);
  });

  it('demo starts an engine and an exporter that probes it, and Ctrl-C ends both', async () => {
    const child = launch(['demo', '--web.listen-address=127.0.0.1:0']);
    const [, page] = await child.saying(/live page\s+(http:\S+)/);
    const [, engine] = await child.saying(/simulated engine\s+(http:\S+)/);
    await child.saying(/first probe is good/);
    const metrics = await (await fetch(`${page}metrics`)).text();
    expect(metrics).toContain('inference_engine_up{target="demo"} 1');
    child.signal('SIGINT');
    expect((await child.finished()).code).toBe(0);
    await expect(fetch(`${engine}/health`)).rejects.toThrow();
  });
});
