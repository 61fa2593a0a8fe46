import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../../../src/config/files.ts';
import { loadConfigFile } from '../../../src/config/load.ts';
import { createConfigWatcher } from '../../../src/config/reload.ts';
import { silentLogger } from '../../../src/log.ts';
import { manualClock } from '../../support/manual-clock.ts';

const config = (name: string): string =>
  `targets:\n  - name: ${name}\n    url: http://127.0.0.1:8000\n    api_key_file: key\n`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'inference-probe-swap-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What the kubelet does: a new folder of files, and the link `..data` moved to it in one step. */
function mount(generation: number, files: Readonly<Record<string, string>>): void {
  const folder = `..2026_${generation}`;
  mkdirSync(join(directory, folder));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, folder, name), text);
  symlinkSync(folder, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  if (generation > 1) return;
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(directory, name));
}

describe('a mounted ConfigMap and Secret', () => {
  it('is followed through every swap of ..data, and not only the first', async () => {
    mount(1, { 'config.yml': config('one'), key: 'sk-1\n' });
    const path = join(directory, 'config.yml');
    const clock = manualClock();
    const applied: string[] = [];
    const load = () => loadConfigFile(path, { environment: {} });
    const first = load();
    const watcher = createConfigWatcher(
      { path, initial: first.config },
      {
        clock,
        log: silentLogger(),
        files: systemFiles(),
        load,
        apply: async (result) => {
          const [target] = result.config.targets;
          applied.push(`${target?.name} ${target?.apiKey?.reveal()}`);
        },
        onReload: () => undefined,
      },
    );
    watcher.start();
    for (const [generation, name] of [
      [2, 'two'],
      [3, 'three'],
      [4, 'four'],
    ] as const) {
      mount(generation, { 'config.yml': config(name), key: `sk-${generation}\n` });
      await clock.advance(6);
    }
    watcher.close();
    expect(applied).toEqual(['two sk-2', 'three sk-3', 'four sk-4']);
  });

  it('G-166: gives the rotated key at the next use, with a swap and in place', () => {
    mount(1, { 'config.yml': config('one'), key: 'sk-1\n' });
    const [target] = loadConfigFile(join(directory, 'config.yml'), { environment: {} }).config.targets;
    expect(target?.apiKey?.reveal()).toBe('sk-1');
    mount(2, { 'config.yml': config('one'), key: 'sk-2\n' });
    expect(target?.apiKey?.reveal()).toBe('sk-2');
    writeFileSync(join(directory, 'key'), 'sk-3-in-place\n');
    expect(target?.apiKey?.reveal()).toBe('sk-3-in-place');
  });
});
