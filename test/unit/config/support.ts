import type { ConfigFiles } from '../../../src/config/files.ts';
import { type LoadDependencies, type LoadResult, loadConfigFile } from '../../../src/config/load.ts';
import { ConfigurationError, formatIssue } from '../../../src/config/report.ts';
import type { TargetConfig } from '../../../src/config/types.ts';
import type { LogFields, Logger } from '../../../src/log.ts';

export const TARGET = 'targets:\n  - name: a\n    url: http://127.0.0.1:8000\n';

/** Files that exist only in the test. Writing changes the version, as on a disk. */
export interface MemoryFiles extends ConfigFiles {
  write(path: string, contents: string | Uint8Array): void;
  remove(path: string): void;
  readonly reads: string[];
}

export function memoryFiles(initial: Readonly<Record<string, string | Uint8Array>> = {}): MemoryFiles {
  const contents = new Map<string, { readonly bytes: Uint8Array; readonly version: number }>();
  const reads: string[] = [];
  let version = 0;
  const write = (path: string, text: string | Uint8Array): void => {
    version += 1;
    contents.set(path, { bytes: typeof text === 'string' ? new TextEncoder().encode(text) : text, version });
  };
  for (const [path, text] of Object.entries(initial)) write(path, text);
  return {
    reads,
    write,
    remove: (path) => void contents.delete(path),
    read: (path) => {
      reads.push(path);
      const found = contents.get(path);
      if (found !== undefined) return found.bytes;
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    version: (path) => contents.get(path)?.version.toString() ?? null,
  };
}

/** Loads text as if it stood in /etc/probe/config.yml. */
export const loadText = (
  text: string | Uint8Array,
  deps: Partial<LoadDependencies> & { readonly others?: Readonly<Record<string, string | Uint8Array>> } = {},
): LoadResult => {
  const { others, ...rest } = deps;
  const files = memoryFiles({ ...others, '/etc/probe/config.yml': text });
  return loadConfigFile('/etc/probe/config.yml', { environment: {}, files, ...rest });
};

/** The first target of a text that must load. */
export function firstTarget(text: string, deps: Parameters<typeof loadText>[1] = {}): TargetConfig {
  const [target] = loadText(text, deps).config.targets;
  if (target === undefined) throw new Error('no target');
  return target;
}

const shorten = (line: string): string => line.replace(/^\/etc\/probe\/config\.yml:/, '');

export const warningsOf = (text: string, deps: Parameters<typeof loadText>[1] = {}): readonly string[] =>
  loadText(text, deps).issues.map(formatIssue).map(shorten);

/** Errors and warnings of a text that must not load. */
export function issuesOf(text: string | Uint8Array, deps: Parameters<typeof loadText>[1] = {}): readonly string[] {
  try {
    loadText(text, deps);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues.map(formatIssue).map(shorten);
    throw error;
  }
  throw new Error('the configuration loads');
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that remembers. */
export function memoryLog(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine['level']) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ level, message, fields });
  const log = { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log };
  return log;
}
