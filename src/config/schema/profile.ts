import { z } from 'zod';
import { DEFAULTS, LIMITS } from '../defaults.ts';
import { formatDuration } from '../quantities.ts';
import {
  choice,
  dictionary,
  duration,
  flag,
  integer,
  key,
  mapping,
  numberBetween,
  prose,
  required,
  text,
} from './fields.ts';

const { profile } = DEFAULTS;
const deadline = () => duration({ min: 0.001, max: LIMITS.longestDeadlineSeconds });

const deadlines = mapping({
  connect: key(deadline(), {
    description: 'Start of the connection to connected, TLS included. Failure reason `connect_timeout`.',
    default: formatDuration(profile.deadlines.connectSeconds),
  }),
  headers: key(deadline(), {
    description:
      'Request written to response headers. Failure reason `headers_timeout`. When not given, at most `first_token`.',
    default: formatDuration(profile.deadlines.headersSeconds),
  }),
  first_token: key(deadline(), {
    description:
      'Request written to first token. Failure reason `ttft_timeout`; the value at which such a failure enters the TTFT histogram. When not given, at most `total`.',
    default: formatDuration(profile.deadlines.firstTokenSeconds),
  }),
  between_tokens: key(deadline(), {
    description:
      'One token chunk to the next, or to the end. Failure reason `stalled`. Comments and pings do not reset it. When not given, at most `total`.',
    default: formatDuration(profile.deadlines.betweenTokensSeconds),
  }),
  total: key(deadline(), {
    description: 'Request written to the terminal event. Failure reason `total_timeout`.',
    default: formatDuration(profile.deadlines.totalSeconds),
  }),
});

const expect = mapping({
  min_tokens: key(integer(1, LIMITS.maxTokens), {
    description: 'Fewer output tokens than this fail the probe as `expectation_failed`.',
  }),
  pattern: key(prose('a regular expression', 2000), {
    description: 'JavaScript regular expression that the answer must match, else `expectation_failed`.',
    examples: ['^\\s*4\\b'],
  }),
  answer: key(prose('text', 20_000), {
    description: 'What the trimmed answer must be, exactly, else `expectation_failed`. Give a fixed `prompt` with it.',
  }),
  degenerate: key(flag(), {
    description:
      'Look for the output of broken weights or kernels: one token repeated, runs of `!`, replacement characters, tokens without text. Failure reason `degenerate_output`. Leave it off with `ignore_eos`, after which sound models repeat themselves too.',
    default: false,
  }),
});

/** A profile as written in the file. */
export const profileSchema = mapping({
  name: required(
    text('a name', LIMITS.nameLength).regex(
      /^[A-Za-z0-9][A-Za-z0-9_.-]*$/,
      'must start with a letter or digit and hold only letters, digits, "_", "." and "-"',
    ),
    { description: 'Value of the label `profile`. Unique within a target.', examples: ['cold'] },
  ),
  every: key(duration({ min: LIMITS.shortestEverySeconds, max: LIMITS.longestEverySeconds }), {
    description: 'Interval of the probes, on an absolute timetable. Not together with `schedule`.',
    default: formatDuration(profile.everySeconds),
  }),
  schedule: key(text('a cron expression', 200), {
    description:
      'Cron expression with seconds (six fields, UTC) instead of `every`. Each slot is followed by a stable phase of the target.',
    examples: ['0 */5 * * * *'],
  }),
  allow_overlap: key(flag(), {
    description:
      'Says that `every` below a written `deadlines.total` is meant. Two probes of one profile never run at once: a tick that finds the last probe still running is skipped and counted, with this key or without.',
    default: false,
  }),
  jitter: key(duration({ min: 0, max: LIMITS.longestEverySeconds }), {
    description: 'Random delay of up to this much on top of each tick; must be below `every`.',
    default: formatDuration(profile.jitterSeconds),
  }),
  prefix: key(choice(['unique', 'shared']), {
    description:
      '`unique`: every probe has a prompt of its own and pays the whole prefill. `shared`: the same prompt every time, a warm hit in the prefix cache. A profile with a fixed `prompt` is `shared`.',
    default: profile.prefix,
  }),
  connection: key(choice(['reuse', 'fresh']), {
    description: '`reuse`: what a gateway with warm connections sees. `fresh`: what a new client sees.',
    default: profile.connection,
  }),
  prompt_tokens: key(integer(1, LIMITS.promptTokens), {
    description: "Size of the generated prompt, checked against the engine's own count.",
    default: profile.promptTokens,
  }),
  prompt: key(prose('text'), {
    description:
      'A fixed prompt instead of a generated one, for answers that are known. `prompt_tokens` is then unused.',
  }),
  max_tokens: key(integer(1, LIMITS.maxTokens), {
    description: 'Most output tokens. 16 or more everywhere, 64 or more for reasoning models.',
    default: profile.maxTokens,
  }),
  ignore_eos: key(z.union([flag(), z.literal('auto')], { error: () => 'must be true, false or auto' }), {
    description:
      'Ask the engine to go on to `max_tokens` whatever the model says. `auto`: only where the engine is known to honour it.',
    default: profile.ignoreEos,
  }),
  temperature: key(numberBetween(0, 2), { description: 'Sampling temperature.', default: profile.temperature }),
  deadlines: key(deadlines, { description: 'Five deadlines, each with a failure reason of its own.' }),
  expect: key(expect, { description: 'What a complete answer must look like.' }),
  extra_body: key(dictionary(z.unknown(), 'a mapping of body fields'), {
    description: 'Further fields of the request body, put in last.',
    examples: [{ chat_template_kwargs: { enable_thinking: false } }],
  }),
});

/** A profile after reading: durations are seconds. */
export type RawProfile = z.output<typeof profileSchema>;
