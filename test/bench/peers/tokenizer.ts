import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyModel } from '../../engines/support/tiny-model.ts';

export const TOKENIZER = 'bench/tiny';
const REVISION = '0'.repeat(40);

/** A tokenizer where a Python library looks for one that it fetched before: nothing is fetched here. */
function tokenizerCache(venv: string): string {
  const cache = join(venv, 'tokenizers');
  const folder = join(cache, `models--${TOKENIZER.replace('/', '--')}`);
  if (existsSync(folder)) return cache;
  mkdirSync(join(folder, 'refs'), { recursive: true });
  writeFileSync(join(folder, 'refs', 'main'), REVISION);
  cpSync(tinyModel(venv), join(folder, 'snapshots', REVISION), { recursive: true });
  return cache;
}

export const offline = (venv: string): Readonly<Record<string, string>> => ({
  HF_HUB_CACHE: tokenizerCache(venv),
  HF_HUB_OFFLINE: '1',
  DO_NOT_TRACK: '1',
});
