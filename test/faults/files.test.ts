import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.ts';
import { account, failures, goodProbes, settled } from './support/accounts.ts';
import { program, startEngine, startExporter, until } from './support/processes.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const target = (port: number, more = ''): string =>
  `  - {name: t, url: "http://127.0.0.1:${port}", model: sim, api: completions, engine: vllm, vantage: cluster, warmup_probes: 0${more}}\n`;
const config = (port: number, more = ''): string => `
web: {listen_address: "127.0.0.1:0"}
disturbed_after: 700ms
budget: {tokens_per_hour: 100000000, tokens_per_day: 1000000000}
profiles: [{name: cold, every: 1s, prompt_tokens: 32, max_tokens: 16}]
targets:
${target(port, more)}`;

describe('a key', () => {
  it('is rotated at the engine and in the file: the new one is used, and no probe is lost for longer than that takes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inference-probe-key-'));
    const keyFile = join(folder, 'key');
    const rotate = (key: string): void => {
      writeFileSync(`${keyFile}.new`, `${key}\n`);
      renameSync(`${keyFile}.new`, keyFile);
    };
    rotate('sk-first');
    open.push(() => rmSync(folder, { recursive: true }));
    // A port that nobody else gets while the engine is away.
    const port = await freePort();
    let engine = await startEngine(['--api-key', 'sk-first'], port);
    open.push(() => engine.process.dispose());
    const exporter = await startExporter(() => config(port, `, api_key_file: "${keyFile}"`));
    open.push(() => exporter.process.dispose());
    await goodProbes(exporter, 't');
    const before = await account(exporter, 't');

    engine.process.signal('SIGTERM');
    await engine.process.finished();
    engine = await startEngine(['--api-key', 'sk-second'], port);
    await until(
      'refused',
      () => failures(exporter, 't', 'unauthorized'),
      (now) => now > 0,
    );
    rotate('sk-second');
    await goodProbes(exporter, 't');
    const refused = await failures(exporter, 't', 'unauthorized');
    await goodProbes(exporter, 't', 1);
    expect(await failures(exporter, 't', 'unauthorized')).toBe(refused);
    await settled(exporter, 't', before);
    expect(exporter.process.said()).not.toMatch(/sk-first|sk-second/);
    expect(await exporter.stop()).toBe(0);
  });
});

describe('the disk', () => {
  it.each([
    ['is full where the log goes', ['sh', '-c', 'exec "$@"', 'sh'], '/dev/full'],
    ['is read-only', ['unshare', '--mount', 'sh', '-c', 'mount -o remount,bind,ro / && exec "$@"', 'sh'], '/dev/null'],
  ])('%s: probes and metrics go on', async (_what, wrapper, log) => {
    const engine = await startEngine();
    open.push(() => engine.process.dispose());
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'inference-probe-disk-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'config.yml');
    writeFileSync(file, config(engine.port).replace('127.0.0.1:0', `127.0.0.1:${port}`));
    const [command = '', ...args] = [...wrapper, process.execPath, await program(), 'serve', '--config.file', file];
    const child = spawn(command, [...args, '--log.level=debug'], {
      stdio: ['ignore', 'ignore', openSync(log, 'w')],
      env: { PATH: process.env.PATH ?? '' },
    });
    const ended = once(child, 'close');
    open.push(() => child.kill('SIGKILL'));
    const good = async (): Promise<number> => {
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text();
      return Number(/^inference_probe_attempts_total\{.*\} (\d+)$/m.exec(page)?.[1] ?? Number.NaN);
    };
    const first = await until('the first probes', good, (count) => count >= 2);
    await until('more probes', good, (count) => count >= first + 2);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
