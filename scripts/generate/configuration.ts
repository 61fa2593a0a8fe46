import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ENVIRONMENT_PREFIX, VARIABLES } from '../../src/config/environment.ts';
import { profileSchema } from '../../src/config/schema/profile.ts';
import { rootSchema } from '../../src/config/schema/root.ts';
import { targetSchema } from '../../src/config/schema/target.ts';
import { unwrap } from '../../src/config/schema/walk.ts';
import { configurationPage } from './configuration-page.ts';

const EXAMPLES = ['minimal', 'sidecar', 'gateway', 'many-targets', 'azure'];

/** Formatted as the repository formats its files, so that both tools agree on them. */
const formatted = (path: string, content: string): { readonly path: string; readonly content: string } => ({
  path,
  content: execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
    input: content,
    encoding: 'utf8',
  }),
});

const jsonSchema = (): unknown => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Configuration of inference-probe-exporter',
  ...z.toJSONSchema(rootSchema, { io: 'input' }),
});

/** The kind of a value in a few words. */
function kindOf(schema: z.ZodType): string {
  const bare = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (bare instanceof z.ZodPipe) return bare.in instanceof z.ZodUnion ? 'size' : 'duration';
  if (bare instanceof z.ZodEnum) return bare.options.map((option) => `\`${String(option)}\``).join(', ');
  if (bare instanceof z.ZodBoolean) return '`true`, `false`';
  if (bare instanceof z.ZodNumber) return bare.format === 'safeint' ? 'whole number' : 'number';
  if (bare instanceof z.ZodArray) return `list of ${bare.element instanceof z.ZodNumber ? 'numbers' : 'mappings'}`;
  if (bare instanceof z.ZodRecord || bare instanceof z.ZodObject) return 'mapping';
  if (bare instanceof z.ZodLiteral) return `\`${String(bare.value)}\``;
  if (bare instanceof z.ZodUnion) return bare.options.map((option) => kindOf(option as z.ZodType)).join(', ');
  return 'text';
}

interface Facts {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

const inline = (value: unknown): string => {
  if (Array.isArray(value) && value.length > 6) return `${value.length} values, \`${value[0]}\` to \`${value.at(-1)}\``;
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

interface Row {
  readonly name: string;
  readonly schema: z.ZodType;
}

/** All keys below a mapping, in the order of the file; lists are described elsewhere, as are the keys in `closed`. */
function rowsOf(schema: z.ZodType, prefix: string, closed: readonly string[]): readonly Row[] {
  const mapping = unwrap(schema);
  if (!(mapping instanceof z.ZodObject)) return [];
  return Object.entries(mapping.shape).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const field = value as z.ZodType;
    return [{ name, schema: field }, ...(closed.includes(name) ? [] : rowsOf(field, `${name}.`, closed))];
  });
}

function table(schema: z.ZodType, closed: readonly string[] = []): string {
  const lines = rowsOf(schema, '', closed).map(({ name, schema: field }) => {
    const facts = z.globalRegistry.get(field) as Facts | undefined;
    const needed = !(field instanceof z.ZodOptional);
    const fallback = facts?.default === undefined ? (needed ? '**required**' : '') : inline(facts.default);
    const example = facts?.examples === undefined ? '' : ` Example: ${facts.examples.map(inline).join(', ')}.`;
    return `| \`${name}\` | ${cell(kindOf(field))} | ${cell(fallback)} | ${cell((facts?.description ?? '') + example)} |`;
  });
  return ['| key | value | default | meaning |', '|---|---|---|---|', ...lines].join('\n');
}

const variables = (): string =>
  [
    '| variable | beside a file | meaning |',
    '|---|---|---|',
    `| \`${ENVIRONMENT_PREFIX}CONFIG_FILE\` | | The configuration file, like \`--config.file\`. |`,
    ...Object.entries(VARIABLES).map(
      ([name, { scope, description }]) =>
        `| \`${ENVIRONMENT_PREFIX}${name}\` | ${scope === 'process' ? 'yes' : 'no effect'} | ${cell(description)} |`,
    ),
  ].join('\n');

const examples = (): string =>
  EXAMPLES.map((name) => {
    const path = `docs/examples-config/${name}.yml`;
    return `### ${name}.yml\n\n\`\`\`yaml\n${readFileSync(path, 'utf8').trimEnd()}\n\`\`\``;
  }).join('\n\n');

/** The JSON Schema for editors, and the reference page. */
export function generateConfiguration(): { readonly path: string; readonly content: string }[] {
  const page = configurationPage({
    root: table(rootSchema, ['profiles', 'targets']),
    profile: table(profileSchema),
    target: table(targetSchema, ['profiles', 'slo', 'budget', 'connection']),
    variables: variables(),
    examples: examples(),
  });
  return [
    formatted('docs/config.schema.json', `${JSON.stringify(jsonSchema(), null, 2)}\n`),
    formatted('docs/CONFIGURATION.md', page),
  ];
}
