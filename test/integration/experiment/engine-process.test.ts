import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { portAnswers, startEngine } from '../../../src/experiment/engine-process.ts';
import { groupLives } from '../../../src/experiment/process-group.ts';
import { freePort } from '../../support/ports.ts';

/** A program that listens, and a child of it that ignores SIGTERM, as engines have them. */
const SERVER = (port: number): string =>
  `node -e 'require("net").createServer().listen(${port}, "127.0.0.1")' & (trap "" TERM; exec sleep 300) & echo group $$; wait`;

async function until(what: string, test: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    if (test()) return;
    await sleep(50);
  }
  throw new Error(`not in time: ${what}`);
}

describe('an engine that is started for an experiment', () => {
  const clock = systemClock();
  let folder = '';
  let url = '';
  let port = 0;
  const command = (line: string, readySeconds = 10) => ({
    command: line,
    url,
    readySeconds,
    stopSeconds: 0.3,
    logFile: join(folder, 'engine.log'),
  });
  const deps = (signal = new AbortController().signal) => ({ clock, signal, isReady: portAnswers });
  const group = (): number => Number(/group (\d+)/.exec(readFileSync(join(folder, 'engine.log'), 'utf8'))?.[1]);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inference-probe-process-'));
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is ended with all of its children, also with those that do not want to', async () => {
    const engine = await startEngine(command(SERVER(port)), deps());
    expect(engine.ended()).toBeNull();
    const pid = group();
    expect(groupLives(pid)).toBe(true);
    await Promise.all([engine.stop(), engine.stop()]);
    await until('the group is gone', () => !groupLives(pid));
    expect(await portAnswers(url)).toBe(false);
  });

  it('is not started where something listens already', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    await expect(startEngine(command(SERVER(port)), deps())).rejects.toThrow(/something already listens at/);
    server.close();
  });

  it('tells what it printed when it dies before it is ready', async () => {
    const line = 'echo loading; echo "unknown option --max-num-seks" >&2; exit 3';
    await expect(startEngine(command(line), deps())).rejects.toThrow(
      /ended \(exit code 3\) before the engine was ready:\n {2}loading\n {2}unknown option --max-num-seks/,
    );
  });

  it('tells the end of what it printed, however much that was', async () => {
    // A hole: as long as a string cannot be, and without a byte on the disk.
    const line = `truncate -s 600M ${join(folder, 'engine.log')}; printf '\\n%s\\n' 'out of memory'; exit 3`;
    await expect(startEngine(command(line), deps())).rejects.toThrow(
      /before the engine was ready:[\s\S]*\n {2}out of memory/,
    );
  });

  it('is given up, and ended, when it never gets ready', async () => {
    await expect(startEngine(command('echo group $$; sleep 300', 2), deps())).rejects.toThrow(/was not ready at/);
    await until('the group is gone', () => !groupLives(group()));
  });

  it('is ended when the experiment is stopped while it starts', async () => {
    const stop = new AbortController();
    const starting = startEngine(command('echo group $$; sleep 300'), deps(stop.signal));
    starting.catch(() => undefined);
    await until('it runs', () => {
      try {
        return group() > 0;
      } catch {
        return false;
      }
    });
    stop.abort();
    await expect(starting).rejects.toThrow(/stopped while the engine was starting/);
    await until('the group is gone', () => !groupLives(group()));
  });

  it('does not outlive this program when that is killed', async () => {
    const script = `
      import { systemClock } from './src/clock.ts';
      import { portAnswers, startEngine } from './src/experiment/engine-process.ts';
      await startEngine(JSON.parse(process.env.OPTIONS), { clock: systemClock(), signal: new AbortController().signal, isReady: portAnswers });
      console.log('ready');
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      env: { ...process.env, OPTIONS: JSON.stringify(command(SERVER(port))) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    const pid = group();
    expect(groupLives(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until('the group is gone', () => !groupLives(pid));
  });
});
