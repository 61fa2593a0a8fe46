import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const maker = new URL('./make_tiny_model.py', import.meta.url).pathname;

/**
 * Folder of the tiny model, made by the engine's own Python on first use: the tokenizer's file format follows the
 * version of the library that writes it. Kept in the engine's install, keyed by the script that makes it.
 */
export function tinyModel(venv: string): string {
  const key = createHash('sha256').update(readFileSync(maker)).digest('hex').slice(0, 12);
  const folder = join(venv, `tiny-model-${key}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  execFileSync(join(venv, 'bin', 'python'), [maker, unfinished], { stdio: ['ignore', 'ignore', 'pipe'] });
  renameSync(unfinished, folder);
  return folder;
}
