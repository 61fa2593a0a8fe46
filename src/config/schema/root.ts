import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../../log.ts';
import { DEFAULT_BUCKETS, DEFAULTS, LIMITS } from '../defaults.ts';
import { formatDuration } from '../quantities.ts';
import { choice, duration, flag, integer, key, list, mapping, path, required, text } from './fields.ts';
import { profileSchema } from './profile.ts';
import { budgetSchema, connectionSchema, sharedMetricsSchema, sloSchema, targetSchema } from './target.ts';

const logSchema = mapping({
  level: key(choice(LOG_LEVELS), { description: 'Least severe level that is written.', default: DEFAULTS.log.level }),
  format: key(choice(LOG_FORMATS), { description: 'One JSON object a line, or logfmt.', default: DEFAULTS.log.format }),
});

const webSchema = mapping({
  listen_address: key(
    text('an address').regex(/^(?:\[[0-9A-Fa-f:.%]+\]|[^:\s[\]]*):\d{1,5}$/, 'must be host:port, :port or [v6]:port'),
    { description: 'Where to listen: `host:port`, `:port` or `[v6]:port`.', default: DEFAULTS.web.listenAddress },
  ),
  telemetry_path: key(text('a path').regex(/^\/[A-Za-z0-9_~.%/-]*$/, 'must start with / and hold no query'), {
    description: 'Path of the metrics.',
    default: DEFAULTS.web.telemetryPath,
  }),
  web_config_file: key(path(), {
    description: 'TLS and users of the own endpoints, in the form of the Prometheus exporter toolkit.',
  }),
  enable_pause: key(flag(), {
    description: 'Offer `POST /-/pause` and `POST /-/resume`.',
    default: DEFAULTS.web.enablePause,
  }),
  enable_reload: key(flag(), { description: 'Offer `POST /-/reload`.', default: DEFAULTS.web.enableReload }),
});

const bounds = () =>
  list(
    z
      .number({ error: () => 'must be a number of seconds' })
      .gt(0, 'must be above 0')
      .max(86_400, 'must be at most 86400'),
    'a list of numbers of seconds',
  )
    .min(1, 'must hold at least one bound')
    .max(200, 'must hold at most 200 bounds: each is a series per target and profile')
    .superRefine((values, context) => {
      const at = values.findIndex((value, index) => index > 0 && value <= (values[index - 1] ?? 0));
      if (at > 0) context.addIssue({ code: 'custom', path: [at], message: 'must be above the bound before it' });
    });

const bucketsSchema = mapping({
  ttft_seconds: key(bounds(), { description: 'Bounds of TTFT histograms.', default: DEFAULT_BUCKETS.ttftSeconds }),
  tpot_seconds: key(bounds(), { description: 'Bounds of TPOT histograms.', default: DEFAULT_BUCKETS.tpotSeconds }),
  gap_seconds: key(bounds(), { description: 'Bounds of the gap histograms.', default: DEFAULT_BUCKETS.gapSeconds }),
  duration_seconds: key(bounds(), {
    description: 'Bounds of the histograms of the whole probe.',
    default: DEFAULT_BUCKETS.durationSeconds,
  }),
});

/** The whole file. */
export const rootSchema = mapping({
  log: key(logSchema, { description: 'The log, on standard error.' }),
  web: key(webSchema, { description: 'The own HTTP endpoints.' }),
  paused: key(flag(), { description: 'The kill switch: send no probes at all.', default: DEFAULTS.paused }),
  slo: key(sloSchema, { description: 'Objectives of all targets that have none of their own.' }),
  profiles: key(list(profileSchema, 'a list of profiles').min(1, 'must describe at least one profile'), {
    description:
      'Shared profiles: those of every target that lists none. When not given, `cold` (prefix unique) and `warm` (prefix shared).',
  }),
  buckets: key(bucketsSchema, {
    description: 'Histogram bounds. SLO thresholds, and deadlines past the last bound, are always added.',
  }),
  budget: key(budgetSchema, { description: 'Token budget of each target that has none of its own.' }),
  connection: key(connectionSchema, { description: 'Connections of all targets that say nothing else.' }),
  metrics: key(sharedMetricsSchema, { description: "Polling of the engines' metrics pages." }),
  disturbed_after: key(duration({ min: 0.001, max: 10 }), {
    description:
      'A sample is marked as disturbed, and kept out of the histograms, when the own event loop was late by more than this and by more than 5 % of the TTFT.',
    default: formatDuration(DEFAULTS.disturbedAfterSeconds),
  }),
  traceparent: key(flag(), {
    description: 'Send a W3C `traceparent` with each probe; its trace id is the id of the probe.',
    default: DEFAULTS.traceparent,
  }),
  max_parallel_probes: key(integer(1, LIMITS.targets), {
    description:
      'Probes in flight at the same time over all targets; without it, one for each target. A tick that finds so many is skipped as `overlap`, never queued, and is no SLO event.',
  }),
  targets: required(
    list(targetSchema, 'a list of targets')
      .min(1, 'must hold at least one target')
      .max(LIMITS.targets, `must hold at most ${LIMITS.targets} targets`),
    { description: 'The endpoints to probe. Nothing else is ever contacted.' },
  ),
});

/** The file after reading, before defaults. */
export type RawConfig = z.output<typeof rootSchema>;
