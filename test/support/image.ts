import { readFileSync } from 'node:fs';

/** The variables that the image sets: they decide how much memory the program takes. */
export function imageEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  const block = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile)?.[1] ?? '';
  const pairs = [...block.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)];
  const found = Object.fromEntries(pairs.map(([, name = '', quoted, bare]) => [name, quoted ?? bare ?? '']));
  if (found.NODE_OPTIONS === undefined) throw new Error('the Dockerfile sets no NODE_OPTIONS');
  return found;
}
