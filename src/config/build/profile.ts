import type { Deadlines, Expectation, ProbeProfile } from '../../probe/profile.ts';
import { type Seconds, seconds } from '../../units.ts';
import { DEFAULTS } from '../defaults.ts';
import { formatDuration } from '../quantities.ts';
import type { KeyPath, Report } from '../report.ts';
import type { RawProfile } from '../schema/profile.ts';
import type { ScheduledProfile, Timetable } from '../types.ts';

type RawDeadlines = NonNullable<RawProfile['deadlines']>;
type DeadlineKey = keyof RawDeadlines;

/** What a deadline may not exceed. `connect` is over before the request is written, so it stands alone. */
const CEILINGS: readonly (readonly [DeadlineKey, DeadlineKey])[] = [
  ['headers', 'first_token'],
  ['first_token', 'total'],
  ['between_tokens', 'total'],
];

function checkDeadlines(raw: RawDeadlines, path: KeyPath, report: Report, built: Deadlines): void {
  const value: Readonly<Record<DeadlineKey, Seconds>> = {
    connect: built.connectSeconds,
    headers: built.headersSeconds,
    first_token: built.firstTokenSeconds,
    between_tokens: built.betweenTokensSeconds,
    total: built.totalSeconds,
  };
  for (const [lower, upper] of CEILINGS) {
    if (raw[lower] === undefined || value[lower] <= value[upper]) continue;
    const stated = raw[upper] === undefined ? ' (its default)' : '';
    report.error(
      [...path, 'deadlines', lower],
      `(${formatDuration(value[lower])}) is beyond deadlines.${upper} (${formatDuration(value[upper])})${stated}, so it can never pass: lower it or raise ${upper}`,
    );
  }
}

/** Deadlines that are not written follow the ones that are, so that lowering one needs no second key. */
function buildDeadlines(raw: RawDeadlines): Deadlines {
  const defaults = DEFAULTS.profile.deadlines;
  const atMost = (written: Seconds | undefined, fallback: Seconds, ceiling: Seconds): Seconds =>
    written ?? seconds(Math.min(fallback, ceiling));
  const totalSeconds = raw.total ?? defaults.totalSeconds;
  const firstTokenSeconds = atMost(raw.first_token, defaults.firstTokenSeconds, totalSeconds);
  return {
    connectSeconds: raw.connect ?? defaults.connectSeconds,
    headersSeconds: atMost(raw.headers, defaults.headersSeconds, firstTokenSeconds),
    firstTokenSeconds,
    betweenTokensSeconds: atMost(raw.between_tokens, defaults.betweenTokensSeconds, totalSeconds),
    totalSeconds,
  };
}

/** Compiles the pattern; the message of the engine is kept out because it repeats the pattern. */
function buildPattern(source: string | undefined, path: KeyPath, report: Report): RegExp | null {
  if (source === undefined) return null;
  try {
    return new RegExp(source, 'u');
  } catch {
    report.error([...path, 'expect', 'pattern'], 'is not a JavaScript regular expression');
    return null;
  }
}

function buildExpectation(raw: RawProfile, path: KeyPath, report: Report): Expectation {
  const expect = raw.expect ?? {};
  return {
    minTokens: expect.min_tokens ?? null,
    pattern: buildPattern(expect.pattern, path, report),
    answer: expect.answer ?? null,
    detectDegenerate: expect.degenerate ?? false,
  };
}

function buildTimetable(raw: RawProfile, path: KeyPath, report: Report): Timetable {
  const { profile } = DEFAULTS;
  if (raw.schedule !== undefined && raw.every !== undefined) {
    report.error([...path, 'schedule'], 'stands beside every: a profile has one of the two', 'key');
  }
  return {
    everySeconds: raw.schedule === undefined ? (raw.every ?? profile.everySeconds) : null,
    cron: raw.schedule ?? null,
    jitterSeconds: raw.jitter ?? profile.jitterSeconds,
  };
}

/**
 * Completes one profile with defaults.
 *
 * @param path where it stands, for what is wrong with it
 */
export function buildProfile(raw: RawProfile, path: KeyPath, report: Report): ScheduledProfile {
  const { profile: defaults } = DEFAULTS;
  const deadlines = buildDeadlines(raw.deadlines ?? {});
  checkDeadlines(raw.deadlines ?? {}, path, report, deadlines);
  const profile: ProbeProfile = {
    name: raw.name,
    // A fixed prompt is the same every time, whatever the default for generated ones.
    prefix: raw.prefix ?? (raw.prompt === undefined ? defaults.prefix : 'shared'),
    connection: raw.connection ?? defaults.connection,
    promptTokens: raw.prompt_tokens ?? defaults.promptTokens,
    prompt: raw.prompt ?? null,
    maxTokens: raw.max_tokens ?? defaults.maxTokens,
    ignoreEos: raw.ignore_eos ?? defaults.ignoreEos,
    temperature: raw.temperature ?? defaults.temperature,
    deadlines,
    expect: buildExpectation(raw, path, report),
    extraBody: raw.extra_body ?? {},
  };
  return { profile, timetable: buildTimetable(raw, path, report) };
}
