import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ProbeExporterError } from '../errors.ts';
import { createPromptMaker } from '../probe/prompt.ts';
import { createRandom } from './random.ts';
import type { RunPhase } from './types.ts';

/** How the prompts of a run are had; plain data, so that it can be handed to a worker. */
export type PromptPlan =
  | {
      readonly kind: 'made';
      readonly promptTokens: number;
      /** Filler words that make a prompt of that size, found by calibration. */
      readonly words: number;
      readonly prefix: 'unique' | 'shared';
      readonly seed: string;
    }
  | { readonly kind: 'file'; readonly prompts: readonly string[]; readonly seed: string };

/** Gives the same prompt for the same phase and index, whatever was asked before. */
export type PromptSet = (phase: RunPhase, index: number) => string;

function shuffled(prompts: readonly string[], seed: string): string[] {
  const random = createRandom(`${seed}\nprompts`);
  const order = [...prompts];
  for (let index = order.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [order[index], order[other]] = [order[other] ?? '', order[index] ?? ''];
  }
  return order;
}

/**
 * Made prompts that are unique are unique in each phase, so that the warm-up does not put those of the window into the
 * prefix cache. Prompts of a file are taken in an order that the seed decides, again from the start when they run out;
 * the warm-up takes them from the other end.
 */
export function createPromptSet(plan: PromptPlan): PromptSet {
  if (plan.kind === 'file') {
    const order = shuffled(plan.prompts, plan.seed);
    return (phase, index) => {
      const at = index % order.length;
      return order[phase === 'window' ? at : order.length - 1 - at] ?? '';
    };
  }
  const { compose } = createPromptMaker(plan.promptTokens);
  if (plan.prefix === 'shared') {
    const prompt = compose(`${plan.seed}\nshared`, plan.words);
    return () => prompt;
  }
  return (phase, index) => compose(`${plan.seed}\n${phase}\n${index}`, plan.words);
}

/** A set without end is known by its beginning. */
const HASHED_PROMPTS = 64;

/** SHA-256 over the first prompts of the window, each with its length. */
export function promptSetHash(plan: PromptPlan): string {
  const set = createPromptSet(plan);
  const hash = createHash('sha256');
  const count = plan.kind === 'file' ? plan.prompts.length : HASHED_PROMPTS;
  for (let index = 0; index < count; index += 1) {
    const prompt = set('window', index);
    hash.update(`${prompt.length}\n${prompt}\n`);
  }
  return hash.digest('hex');
}

/** A JSON string, an object with `prompt` or `text`, else the line as it is. */
function promptOf(line: string, place: string): string {
  if (!/^\s*["{]/.test(line)) return line;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // A prompt may well begin with a brace.
    return line;
  }
  if (typeof value === 'string') return value;
  const { prompt, text } = value as { readonly prompt?: unknown; readonly text?: unknown };
  const found = prompt ?? text;
  if (typeof found === 'string') return found;
  throw new ProbeExporterError('USAGE', `${place}: an object needs a "prompt" that is a string`);
}

/**
 * The prompts of a file, one a line: plain text or JSON.
 *
 * @throws ProbeExporterError USAGE when it cannot be read or holds none
 */
export function readPromptsFile(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ProbeExporterError('USAGE', `--prompts ${path} cannot be read (${code})`, { cause: error });
  }
  const prompts = text
    // Editors of some systems begin a file with a mark that belongs to none of its prompts.
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, index) => (line.trim() === '' ? '' : promptOf(line, `${path}:${index + 1}`)))
    .filter((prompt) => prompt !== '');
  if (prompts.length === 0) throw new ProbeExporterError('USAGE', `--prompts ${path} holds no prompt`);
  return prompts;
}
