import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerStamps } from '../stamps.ts';
import type { Pair } from './match.ts';

/** The figures that a client itself gives for what it counts; null: it gives none. */
export interface Reported {
  readonly requests: number;
  readonly outputTokens: number | null;
  readonly ttftP50Ms: number | null;
  readonly ttftP99Ms: number | null;
  /** By whatever name: (last − first) / (tokens − 1). */
  readonly tpotP50Ms: number | null;
}

/** One request as its client timed it. */
export interface Timed {
  readonly ttftSeconds: number;
  /** (last − first) / (tokens − 1); null when the client gives none. */
  readonly tpotSeconds: number | null;
  readonly outputTokens: number;
}

/** What a run of a client left. */
export interface Outcome {
  readonly reported: Reported | null;
  /** Each request that it timed, those before its window included where it keeps them. */
  readonly requests: readonly Timed[];
  /** The requests that it counts, found again in the server's stamps. */
  pairs(server: ServerStamps): readonly Pair[];
}

export interface PeerLoad {
  readonly url: string;
  readonly streams: number;
  readonly seconds: number;
  readonly tokens: number;
}

export interface Peer {
  readonly name: string;
  /** What its command line is, and which API it speaks, for the report. */
  readonly note: string;
  readonly environment: Readonly<Record<string, string>>;
  command(load: PeerLoad, folder: string): readonly string[];
  read(folder: string, out: string): Outcome;
}

export const here = (name: string): string => new URL(name, import.meta.url).pathname;
export const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
export const PROMPT_TOKENS = 64;

/** The path that an install script prints; null, said loudly, when it cannot be had. */
export function installed(script: string, ...args: readonly string[]): string | null {
  try {
    return execFileSync('bash', [here(`../install/${script}`), ...args], { encoding: 'utf8' }).trim();
  } catch {
    console.error(`SKIPPED: ${[script, ...args].join(' ')} did not succeed`);
    return null;
  }
}

export function temporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-peers-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}
