import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfigFile } from '../../src/config/load.ts';
import { rootSchema } from '../../src/config/schema/root.ts';

const FOLDER = 'docs/examples-config';
const examples = readdirSync(FOLDER).map((file) => `${FOLDER}/${file}`);
const shipped = ['deploy/kubernetes/standalone/config.yml'];
// Secrets and certificates of an example lie on somebody else's machine.
const elsewhere = /which does not exist; probes (?:of this target )?fail until it can be read$/;

describe('configurations that are shipped', () => {
  it.each([...examples, ...shipped])('%s loads, and nothing about it is weak', (path) => {
    const { config, issues } = loadConfigFile(path, { environment: {} });
    expect(config.targets.length).toBeGreaterThan(0);
    expect(issues.filter(({ message }) => !elsewhere.test(message))).toEqual([]);
  });

  it('are what the schema for editors allows', () => {
    // The file that editors use is made from this schema; `npm run generate -- --check` compares them.
    const schema = z.fromJSONSchema(JSON.parse(readFileSync('docs/config.schema.json', 'utf8')));
    for (const path of examples) expect(schema.safeParse(parse(readFileSync(path, 'utf8'))).error).toBeUndefined();
    expect(schema.safeParse({ targets: [{ name: 'a', url: 'x', modle: 'y' }] }).success).toBe(false);
  });
});

describe('the reference', () => {
  const page = readFileSync('docs/CONFIGURATION.md', 'utf8');

  it.each(Object.keys(rootSchema.shape))('describes %s', (key) => {
    expect(page).toContain(`\`${key}\``);
  });

  it('shows every example', () => {
    for (const path of examples) expect(page).toContain(readFileSync(path, 'utf8').trimEnd());
  });
});
