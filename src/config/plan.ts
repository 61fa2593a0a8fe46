import { cronRunsPerDay } from './cron-rate.ts';
import type { ScheduledProfile, TargetConfig, Timetable } from './types.ts';

const HOUR_SECONDS = 3600;
const HOURS_A_DAY = 24;
// English text in the usual tokenizers; only for the plan of a fixed prompt.
const CHARACTERS_A_TOKEN = 4;

/** Probes an hour on a timetable; null when the cron expression cannot be read. */
export function probesPerHour(timetable: Timetable): number | null {
  if (timetable.everySeconds !== null) return HOUR_SECONDS / timetable.everySeconds;
  const day = timetable.cron === null ? null : cronRunsPerDay(timetable.cron);
  return day === null ? null : day / HOURS_A_DAY;
}

/** Most tokens that one probe costs: its prompt and a full answer. */
export function tokensPerProbe({ profile }: ScheduledProfile): number {
  const prompt = profile.prompt === null ? profile.promptTokens : Math.ceil(profile.prompt.length / CHARACTERS_A_TOKEN);
  return prompt + profile.maxTokens;
}

/** What probing a target is planned to cost. */
export interface TokenPlan {
  readonly tokensPerHour: number;
  readonly tokensPerDay: number;
}

/** Tokens that all profiles of a target ask for, if nothing is skipped. */
export function planTokens(target: TargetConfig): TokenPlan {
  const tokensPerHour = target.profiles
    .map((profile) => (probesPerHour(profile.timetable) ?? 0) * tokensPerProbe(profile))
    .reduce((sum, tokens) => sum + tokens, 0);
  return { tokensPerHour: Math.ceil(tokensPerHour), tokensPerDay: Math.ceil(tokensPerHour * HOURS_A_DAY) };
}
