import { randomBytes } from 'node:crypto';
import { parseDuration } from '../config/quantities.ts';
import { wrongUsage } from '../errors.ts';
import type { LoadRequest } from '../experiment/load-types.ts';
import type { Arrival } from '../experiment/types.ts';
import type { Logger } from '../log.ts';
import type { Deadlines } from '../probe/profile.ts';
import { seconds } from '../units.ts';
import type { CliContext } from './context.ts';
import type { LoadFlags } from './load-flags.ts';
import { type OnceFlags, planOnce } from './once-config.ts';

const DEFAULTS = {
  concurrency: 16,
  maxInFlight: 512,
  windowSeconds: 120,
  warmupSeconds: 30,
  trimSeconds: 10,
  drainSeconds: 30,
  timeoutSeconds: 300,
  inTokens: 128,
  maxOut: 128,
} as const;
/** A short window is trimmed by this share at each end at most. */
const TRIM_SHARE = 1 / 6;
const CONNECT_SECONDS = 10;
/** An engine under overload may let its first token wait for long; between two tokens it has no reason to. */
const BETWEEN_TOKENS_SECONDS = 60;

/** A whole number of at least 1. */
function count(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)
    ? value
    : wrongUsage(`${flag} ${JSON.stringify(text)} is no whole number of at least 1`);
}

/** Seconds, bare (`30`) or with a unit (`500ms`, `2m`). */
function duration(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : parseDuration(text);
  return value ?? wrongUsage(`${flag} ${JSON.stringify(text)} is no length of time, such as 30 or 500ms`);
}

const SLO_KEYS = { ttft: 'ttftSeconds', tpot: 'tpotSeconds', e2e: 'e2eSeconds' } as const;

/** Objectives such as `ttft=500ms,tpot=50ms`. */
function readSlo(text: string | undefined): LoadRequest['slo'] {
  const slo: { -readonly [K in keyof LoadRequest['slo']]: number | null } = {
    ttftSeconds: null,
    tpotSeconds: null,
    e2eSeconds: null,
  };
  for (const part of (text ?? '').split(',').filter((one) => one.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    if (!Object.hasOwn(SLO_KEYS, name))
      wrongUsage(`--slo ${JSON.stringify(part)}: write it as ttft=500ms, tpot=50ms or e2e=10s`);
    const limit = duration(`--slo ${name}`, value, 0);
    if (limit <= 0) wrongUsage(`--slo ${name} must be more than 0`);
    const key = SLO_KEYS[name as keyof typeof SLO_KEYS];
    if (slo[key] !== null) wrongUsage(`--slo names ${name} twice`);
    slo[key] = limit;
  }
  return slo;
}

function readArrival(flags: LoadFlags): Arrival {
  if (flags.rate === undefined) {
    if (flags.arrival !== undefined) wrongUsage('--arrival needs --rate: a closed loop has no timetable');
    return {
      kind: 'closed',
      concurrency: count('--concurrency', flags.concurrency, DEFAULTS.concurrency),
    };
  }
  const ratePerSecond = Number(flags.rate);
  if (!(ratePerSecond > 0) || !Number.isFinite(ratePerSecond)) wrongUsage(`--rate ${flags.rate} is no number above 0`);
  const process = flags.arrival ?? 'poisson';
  if (process !== 'poisson' && process !== 'constant') return wrongUsage('--arrival is poisson or constant');
  return {
    kind: 'open',
    ratePerSecond,
    process,
    maxInFlight: count('--concurrency', flags.concurrency, DEFAULTS.maxInFlight),
  };
}

function readDeadlines(text: string | undefined): Deadlines {
  const timeoutSeconds = duration('--timeout', text, DEFAULTS.timeoutSeconds);
  if (timeoutSeconds <= 0) wrongUsage('--timeout must be more than 0');
  return {
    connectSeconds: seconds(Math.min(CONNECT_SECONDS, timeoutSeconds)),
    headersSeconds: seconds(timeoutSeconds),
    firstTokenSeconds: seconds(timeoutSeconds),
    betweenTokensSeconds: seconds(Math.min(BETWEEN_TOKENS_SECONDS, timeoutSeconds)),
    totalSeconds: seconds(timeoutSeconds),
  };
}

const TARGET_FLAGS = [
  'url',
  'model',
  'api',
  'engine',
  'apiKeyFile',
  'apiKeyEnv',
  'metricsUrl',
  'header',
  'caFile',
] as const;

/** The part of the command line that says where the endpoint is is that of `once`. */
function onceFlags(flags: LoadFlags): OnceFlags {
  const given = TARGET_FLAGS.flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]] as const]));
  return {
    url: 'http://127.0.0.1:8000',
    ...Object.fromEntries(given),
    ...(flags.insecure === true && { insecure: true }),
  };
}

/**
 * What the flags ask for.
 *
 * @throws ConfigurationError or ProbeExporterError USAGE for a wrong command line
 */
export function readLoadRequest(
  flags: LoadFlags,
  { environment }: Pick<CliContext, 'environment'>,
  log: Logger,
): LoadRequest {
  const { target } = planOnce(onceFlags(flags), environment, log);
  const windowSeconds = duration('--duration', flags.duration, DEFAULTS.windowSeconds);
  const trim = Math.min(DEFAULTS.trimSeconds, windowSeconds * TRIM_SHARE);
  return {
    target,
    deadlines: readDeadlines(flags.timeout),
    metrics: flags.metrics,
    arrival: readArrival(flags),
    windowSeconds,
    trimSeconds: duration('--trim', flags.trim, trim),
    warmupMaxSeconds: duration('--warmup', flags.warmup, DEFAULTS.warmupSeconds),
    drainMaxSeconds: DEFAULTS.drainSeconds,
    promptTokens: count('--in-tokens', flags.inTokens, DEFAULTS.inTokens),
    maxOutputTokens: count('--max-out', flags.maxOut, DEFAULTS.maxOut),
    prefix: flags.prefixShared === true ? 'shared' : 'unique',
    respectEos: flags.respectEos === true,
    promptsFile: flags.prompts ?? null,
    // A seed that was used before finds its prompts in the engine's prefix cache.
    seed: flags.seed ?? randomBytes(8).toString('hex'),
    workers: count('--workers', flags.workers, 1),
    slo: readSlo(flags.slo),
  };
}
