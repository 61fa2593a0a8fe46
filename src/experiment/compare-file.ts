import { z } from 'zod';
import { readDocument } from '../config/document.ts';
import { parseDuration } from '../config/quantities.ts';
import { createReport, formatIssue, type KeyPath, type Report } from '../config/report.ts';
import { nearest } from '../config/suggest.ts';
import { ProbeExporterError } from '../errors.ts';
import { checkPlan } from './compare-check.ts';
import { ALIGNMENTS, type ComparePlan } from './compare-types.ts';

const text = z.string({ error: 'must be text' }).min(1, 'must not be empty');
const name = text.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must consist of letters, digits, ".", "_" and "-"');
const count = (least: number, most: number) =>
  z
    .int({ error: 'must be a whole number' })
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);
const duration = z.string({ error: 'must be a duration such as 30s' }).transform((given, context): number => {
  const parsed = parseDuration(given);
  if (parsed === null) context.addIssue({ code: 'custom', message: 'must be a duration such as 500ms, 30s or 2m' });
  return parsed ?? 0;
});
const url = text.refine((given) => {
  try {
    return /^https?:$/.test(new URL(given).protocol);
  } catch {
    return false;
  }
}, 'must be an http:// or https:// URL');

const argument = z.union([z.string(), z.null()], { error: 'must be text: arguments for the start command' });
const switchSchema = z.strictObject({ on: argument.optional(), off: argument.optional() });
const objective = duration.optional();

const engineSchema = z.strictObject({
  name,
  url,
  model: text.optional(),
  api: text.optional(),
  engine: text.optional(),
  metrics_url: url.optional(),
  api_key_file: text.optional(),
  start: text.optional(),
  ready_timeout: duration.default(600),
  stop_timeout: duration.default(30),
  switches: z.record(name, switchSchema).default({}),
});

const loadSchema = z.strictObject({
  window: duration.default(120),
  trim: duration.default(10),
  warmup: duration.default(60),
  prompt_tokens: count(1, 1_000_000).default(512),
  max_tokens: count(1, 1_000_000).default(128),
  prefix: z.enum(['unique', 'shared'], { error: 'must be unique or shared' }).default('unique'),
  respect_eos: z.boolean({ error: 'must be true or false' }).default(false),
  slo: z.strictObject({ ttft: objective, tpot: objective, e2e: objective }).default({}),
});

const fileSchema = z.strictObject({
  name: text.default('comparison'),
  seed: z.union([z.string(), z.number()], { error: 'must be text or a number' }).transform(String).default('1'),
  repeats: count(1, 100).default(3),
  cooldown: duration.default(5),
  levels: z.array(count(1, 100_000)).min(1, 'must hold at least one level').default([8]),
  switches: z.array(name).max(5, 'five switches are 32 cells already').default([]),
  allow: z.array(z.enum(ALIGNMENTS, { error: `must be one of ${ALIGNMENTS.join(', ')}` })).default([]),
  load: loadSchema.default(() => loadSchema.parse({})),
  engines: z.array(engineSchema).min(1, 'must hold at least one engine').max(10, 'must hold at most 10 engines'),
});

type File = z.infer<typeof fileSchema>;

/** Keys that are known at a path, for the advice at an unknown one. */
function knownAt(path: KeyPath): readonly string[] {
  const [first, , third] = path;
  if (path.length === 0) return Object.keys(fileSchema.shape);
  if (first === 'load') return path.length === 1 ? Object.keys(loadSchema.shape) : ['ttft', 'tpot', 'e2e'];
  return third === 'switches' ? ['on', 'off'] : Object.keys(engineSchema.shape);
}

function tell(error: z.ZodError, report: Report): void {
  for (const issue of error.issues) {
    const path = issue.path as (string | number)[];
    if (issue.code !== 'unrecognized_keys') {
      report.error(path, issue.message.startsWith('Invalid') ? 'is missing, or of the wrong kind' : issue.message);
      continue;
    }
    const known = knownAt(path);
    for (const key of issue.keys) {
      const near = nearest(key, known);
      const advice = near === null ? `known are ${known.join(', ')}` : `did you mean ${near}?`;
      report.error([...path, key], `is not a key here; ${advice}`, 'key');
    }
  }
}

function planOf(file: File): ComparePlan {
  const { load } = file;
  return {
    format: 1,
    kind: 'compare',
    name: file.name,
    seed: file.seed,
    repeats: file.repeats,
    cooldownSeconds: file.cooldown,
    levels: [...new Set(file.levels)].sort((a, b) => a - b),
    switches: [...new Set(file.switches)],
    allow: file.allow,
    engines: file.engines.map((engine) => ({
      name: engine.name,
      url: engine.url,
      model: engine.model ?? null,
      api: engine.api ?? null,
      engine: engine.engine ?? null,
      metricsUrl: engine.metrics_url ?? null,
      apiKeyFile: engine.api_key_file ?? null,
      start: engine.start ?? null,
      readySeconds: engine.ready_timeout,
      stopSeconds: engine.stop_timeout,
      switches: Object.fromEntries(
        Object.entries(engine.switches).map(([key, given]) => [key, { on: given.on ?? '', off: given.off ?? '' }]),
      ),
    })),
    load: {
      windowSeconds: load.window,
      trimSeconds: load.trim,
      warmupMaxSeconds: load.warmup,
      promptTokens: load.prompt_tokens,
      maxOutputTokens: load.max_tokens,
      prefix: load.prefix,
      respectEos: load.respect_eos,
      slo: {
        ttftSeconds: load.slo.ttft ?? null,
        tpotSeconds: load.slo.tpot ?? null,
        e2eSeconds: load.slo.e2e ?? null,
      },
    },
  };
}

/**
 * Reads an experiment file.
 *
 * @param file its name, for messages
 * @throws ProbeExporterError USAGE with every issue, each with its line
 */
export function readExperimentFile(file: string, bytes: Uint8Array): ComparePlan {
  const document = readDocument(file, bytes);
  const report = createReport(document.places);
  for (const issue of document.issues) report.add(issue);
  if (!report.failed()) {
    const parsed = fileSchema.safeParse(document.value);
    if (!parsed.success) tell(parsed.error, report);
    else {
      const plan = planOf(parsed.data);
      checkPlan(plan, report);
      if (!report.failed()) return plan;
    }
  }
  const lines = report.issues().map((issue) => `  ${formatIssue(issue)}`);
  throw new ProbeExporterError('USAGE', `the experiment file ${file} cannot be used:\n${lines.join('\n')}`);
}
