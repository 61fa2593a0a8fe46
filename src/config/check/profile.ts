import { cronGrid, validateCron } from '../../schedule/cron.ts';
import type { Seconds } from '../../units.ts';
import type { PlacedProfile } from '../build/target.ts';
import { WEAK } from '../defaults.ts';
import { formatDuration } from '../quantities.ts';
import type { Report } from '../report.ts';

/** Shortest distance between two ticks; null when the cron expression cannot be used, which is reported. */
function shortestInterval({ scheduled, path }: PlacedProfile, report: Report): Seconds | null {
  const { everySeconds, cron } = scheduled.timetable;
  if (cron === null) return everySeconds;
  const problem = validateCron(cron);
  if (problem === null) return cronGrid(cron).shortestGapSeconds;
  report.error([...path, 'schedule'], `cannot be used: ${problem}`);
  return null;
}

function checkTimetable(placed: PlacedProfile, report: Report): void {
  const { scheduled, raw, path } = placed;
  const { jitterSeconds } = scheduled.timetable;
  const everySeconds = shortestInterval(placed, report);
  if (everySeconds === null) return;
  if (jitterSeconds >= everySeconds) {
    report.error(
      [...path, 'jitter'],
      `(${formatDuration(jitterSeconds)}) must be below the interval (${formatDuration(everySeconds)}), else ticks overtake each other`,
    );
  }
  const { totalSeconds } = scheduled.profile.deadlines;
  // Only of a deadline that somebody wrote: the default one is a ceiling, above the default interval on purpose.
  if (raw.deadlines?.total !== undefined && everySeconds < totalSeconds && raw.allow_overlap !== true) {
    const written =
      raw.every === undefined && raw.schedule === undefined
        ? ['deadlines', 'total']
        : [raw.schedule === undefined ? 'every' : 'schedule'];
    report.error(
      [...path, ...written],
      `the interval (${formatDuration(everySeconds)}) is below deadlines.total (${formatDuration(totalSeconds)}): a slow probe makes the next ticks be skipped; probe less often, lower deadlines.total, or say allow_overlap: true`,
    );
  }
  if (everySeconds < WEAK.everySeconds) {
    report.warning(
      [...path, raw.schedule === undefined ? 'every' : 'schedule'],
      `(${formatDuration(everySeconds)}) is below ${formatDuration(WEAK.everySeconds)}: that is a load, not a probe, and changes what it measures`,
    );
  }
}

function checkPrompt({ scheduled, raw, path }: PlacedProfile, report: Report): void {
  if (raw.prompt !== undefined && raw.prompt_tokens !== undefined) {
    report.warning([...path, 'prompt_tokens'], 'is not used beside a fixed prompt', 'key');
  }
  if (raw.prompt !== undefined && raw.prefix === 'unique') {
    report.warning([...path, 'prefix'], 'unique cannot hold with a fixed prompt: later probes hit the prefix cache');
  }
  const known = raw.expect?.answer !== undefined || raw.expect?.pattern !== undefined;
  if (known && raw.prompt === undefined) {
    report.warning([...path, 'expect'], 'asks for a known answer without a fixed prompt; give prompt', 'key');
  }
  if (raw.expect?.answer !== undefined && scheduled.profile.temperature > 0) {
    report.warning([...path, 'temperature'], 'above 0 makes answers differ, while expect.answer wants one; set 0');
  }
}

function checkOutput({ scheduled, raw, path }: PlacedProfile, report: Report): void {
  const { maxTokens, expect, ignoreEos } = scheduled.profile;
  if (expect.minTokens !== null && expect.minTokens > maxTokens) {
    report.error(
      [...path, 'expect', 'min_tokens'],
      `(${expect.minTokens}) is above max_tokens (${maxTokens}), so every probe would fail`,
    );
  }
  if (maxTokens < WEAK.maxTokens) {
    report.warning(
      [...path, 'max_tokens'],
      `(${maxTokens}) is below ${WEAK.maxTokens}: too few tokens for a TPOT, and some deployments refuse so few`,
    );
  }
  if (expect.detectDegenerate && ignoreEos === true) {
    report.warning(
      [...path, 'expect', 'degenerate'],
      'beside ignore_eos: true finds fault with sound models, which repeat themselves past their end',
    );
  }
  if (
    raw.extra_body !== undefined &&
    ['stream', 'model', 'prompt', 'messages'].some((name) => name in (raw.extra_body ?? {}))
  ) {
    report.warning(
      [...path, 'extra_body'],
      'replaces stream, model, prompt or messages, which the probe sets itself',
      'key',
    );
  }
}

/** What is impossible or weak about one profile by itself. */
export function checkProfile(profile: PlacedProfile, report: Report): void {
  checkTimetable(profile, report);
  checkPrompt(profile, report);
  checkOutput(profile, report);
}
