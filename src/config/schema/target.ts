import { z } from 'zod';
import { ENGINE_NAMES } from '../../engine/types.ts';
import { API_NAMES } from '../../probe/outcome.ts';
import { DEFAULT_PROFILES, DEFAULTS, LIMITS } from '../defaults.ts';
import { formatBytes, formatDuration } from '../quantities.ts';
import {
  bytes,
  choice,
  dictionary,
  duration,
  flag,
  integer,
  key,
  list,
  mapping,
  path,
  ratio,
  required,
  text,
} from './fields.ts';
import { profileSchema } from './profile.ts';

const MEBIBYTE = 1024 * 1024;

const latencyObjective = (what: string, defaults: { thresholdSeconds: number; objectiveRatio: number }) =>
  mapping({
    threshold: key(duration(), {
      description: `A probe whose ${what} is above this is bad. Always an edge of the histogram.`,
      default: formatDuration(defaults.thresholdSeconds),
    }),
    objective: key(ratio(), { description: 'Share of probes that must be good.', default: defaults.objectiveRatio }),
  });

/** Objectives, at the top or of one target. */
export const sloSchema = mapping({
  availability: key(
    mapping({
      objective: key(ratio(), {
        description: 'Share of probes that must end well.',
        default: DEFAULTS.slo.availability.objectiveRatio,
      }),
    }),
    { description: 'A probe is good when it got a token, a terminal marker, no error, and what it expects.' },
  ),
  ttft: key(latencyObjective('TTFT', DEFAULTS.slo.ttft), { description: 'Time to first token.' }),
  tpot: key(latencyObjective('TPOT', DEFAULTS.slo.tpot), {
    description: 'Time per output token after the first chunk.',
  }),
});
export type RawSlo = z.output<typeof sloSchema>;

export const budgetSchema = mapping({
  tokens_per_hour: key(integer(1, 1e12), {
    description: 'Prompt and output tokens in an hour; a probe that might pass the limit is skipped.',
    default: DEFAULTS.budget.tokensPerHour,
  }),
  tokens_per_day: key(integer(1, 1e13), {
    description: 'The same for a day.',
    default: DEFAULTS.budget.tokensPerDay,
  }),
});
export type RawBudget = z.output<typeof budgetSchema>;

const metricsShape = {
  enabled: key(flag(), { description: "Poll the engine's own metrics page.", default: DEFAULTS.metrics.enabled }),
  every: key(duration({ min: 0.1, max: 3600 }), {
    description:
      "Interval of the polls. When not given, the engine's own: 1s, or slower where a scrape has side effects.",
  }),
  stale_after: key(duration({ min: 0.1, max: 3600 }), {
    description: 'Series older than this vanish; `inference_engine_up` is 0.',
    default: formatDuration(DEFAULTS.metrics.staleAfterSeconds),
  }),
  peak_window: key(duration({ min: 1, max: 3600 }), {
    description: 'Window of the `_peak` gauges. At least the scrape interval of Prometheus.',
    default: formatDuration(DEFAULTS.metrics.peakWindowSeconds),
  }),
  max_bytes: key(bytes(64 * 1024, 1024 * MEBIBYTE), {
    description: 'Largest page, decompressed; a larger one is a failed poll.',
    default: formatBytes(DEFAULTS.metrics.maxBytes),
  }),
  histograms: key(flag(), {
    description: "Re-export the engine's own latency histograms, so that users' latency stands beside the probes'.",
    default: DEFAULTS.metrics.exportHistograms,
  }),
  hang_after: key(duration({ min: 1, max: 3600 }), {
    description: 'Token counters that stand still for this long while requests run or wait: the engine hangs.',
    default: formatDuration(DEFAULTS.metrics.hangAfterSeconds),
  }),
};

/** Polling at the top: for all targets, so without a URL. */
export const sharedMetricsSchema = mapping(metricsShape);
export const metricsSchema = mapping({
  url: key(text('a URL'), {
    description: "The engine's metrics page. When not given, it is found by asking.",
    examples: ['http://127.0.0.1:8000/metrics'],
  }),
  ...metricsShape,
});
export type RawMetrics = z.output<typeof metricsSchema>;

export const connectionSchema = mapping({
  family: key(z.union([z.literal(4), z.literal(6), z.literal('auto')], { error: () => 'must be 4, 6 or auto' }), {
    description: 'IP version. `auto` tries both (happy eyeballs).',
    default: DEFAULTS.connection.family,
  }),
  address_attempt: key(duration({ min: 0.01, max: 60 }), {
    description: 'Time that each address of a host gets before the next one is tried.',
    default: formatDuration(DEFAULTS.connection.addressAttemptSeconds),
  }),
  tls: key(
    mapping({
      ca_file: key(path(), {
        description: 'PEM file of the certificate authorities to trust, instead of the usual ones.',
      }),
      cert_file: key(path(), { description: 'PEM file of the client certificate. Together with `key_file`.' }),
      key_file: key(path(), { description: 'PEM file of the key of the client certificate.' }),
      server_name: key(text('a host name', 253), {
        description: 'Name for SNI and verification, if not the host of the URL.',
      }),
      insecure_skip_verify: key(flag(), {
        description: "Do not verify the server's certificate. For experiments only.",
        default: DEFAULTS.connection.insecureSkipVerify,
      }),
    }),
    { description: 'TLS of `https` targets. Files are read again when they change.' },
  ),
  proxy_url: key(text('a URL'), {
    description:
      'HTTP proxy for this target. `env`: the one that HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment name. When not given, none, whatever the environment says.',
    examples: ['http://proxy.example:3128'],
  }),
});
export type RawConnection = z.output<typeof connectionSchema>;

const kvCacheSchema = mapping({
  capacity_tokens: key(integer(1, 1e12), { description: 'Capacity of the KV cache in tokens.' }),
  memory: key(bytes(MEBIBYTE, 1024 ** 5), {
    description: 'Memory of the KV cache; needs the four keys below.',
    examples: ['40GiB'],
  }),
  layers: key(integer(1, 10_000), { description: 'Layers of the model.' }),
  kv_heads: key(integer(1, 10_000), { description: 'Key/value heads (fewer than attention heads with GQA).' }),
  head_dim: key(integer(1, 100_000), { description: 'Size of a head.' }),
  dtype_bytes: key(integer(1, 8), { description: 'Bytes of one element: 2 for fp16 and bf16, 1 for fp8.' }),
});
export type RawKvCache = z.output<typeof kvCacheSchema>;

const profileReference = z.union([z.string(), profileSchema], {
  error: () => 'must be the name of a shared profile, or a mapping that describes one',
});

/** A target as written in the file. */
export const targetSchema = mapping({
  name: required(text('a name', LIMITS.nameLength), {
    description: 'Value of the label `target`. Unique.',
    examples: ['llama-70b'],
  }),
  url: required(text('a URL'), {
    description:
      'Base URL of the endpoint, without the path of an API; it may end in `/v1`. No user name, password or query: keys belong into files.',
    examples: [DEFAULTS.targetUrl],
  }),
  model: key(text('the name of a model', 500), {
    description: 'The model to ask for. `auto`: the first one that the endpoint lists.',
    default: 'auto',
  }),
  api: key(choice(['auto', ...API_NAMES]), {
    description: 'The streaming API. `auto`: found by asking.',
    default: 'auto',
  }),
  engine: key(choice(['auto', ...ENGINE_NAMES]), {
    description: 'The engine behind the endpoint. `auto`: found from its metrics page and identity endpoints.',
    default: 'auto',
  }),
  vantage: key(text('text', LIMITS.nameLength), {
    description:
      'From where the endpoint is seen, for people: `sidecar`, `gateway`, `eu-west`. When not given, `sidecar` for an endpoint on this machine and `remote` for any other.',
  }),
  reasoning: key(flag(), {
    description:
      'Whether the model thinks before it answers; only for the warning about a small `max_tokens`. When not given, guessed from the name of the model.',
  }),
  api_key_file: key(path(), {
    description:
      'File that holds the key. Read again when it changes; mount the whole directory of a Secret, not a subPath.',
    examples: ['/etc/inference-probe/secrets/api-key'],
  }),
  api_key_env: key(
    text('the name of an environment variable').regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'is not the name of an environment variable',
    ),
    {
      description:
        'Environment variable that holds the key. Cannot change while the process runs; prefer `api_key_file`.',
    },
  ),
  headers: key(dictionary(text('text', 8000), 'a mapping of header names to values'), {
    description: 'Further request headers. Shown masked, but secrets belong into `header_files`.',
    examples: [{ 'x-tenant': 'probes' }],
  }),
  header_files: key(dictionary(path(), 'a mapping of header names to files'), {
    description: 'Further request headers whose values are read from files.',
    examples: [{ authorization: '/etc/inference-probe/secrets/authorization' }],
  }),
  paused: key(flag(), { description: 'Send no probes to this target.', default: DEFAULTS.paused }),
  profiles: key(list(profileReference, 'a list of profiles').min(1, 'must name at least one profile'), {
    description:
      'Names of shared profiles, or profiles described here. When not given, all shared ones. `cold` and `warm` exist without being described.',
    default: DEFAULT_PROFILES.map((profile) => profile.name),
  }),
  slo: key(sloSchema, { description: 'Objectives of this target; what is not given comes from the top level.' }),
  budget: key(budgetSchema, {
    description: 'Token budget of this target; what is not given comes from the top level.',
  }),
  metrics: key(metricsSchema, {
    description: "The engine's metrics page; what is not given comes from the top level.",
  }),
  connection: key(connectionSchema, { description: 'Connections; what is not given comes from the top level.' }),
  warmup_probes: key(integer(0, LIMITS.warmupProbes), {
    description: 'The first probes after the start that are counted, but enter neither histograms nor SLO.',
    default: DEFAULTS.warmupProbes,
  }),
  kv_cache: key(kvCacheSchema, {
    description:
      'What is known of the KV cache, for the arithmetic of `check`, where the engine does not say it itself.',
  }),
});

/** A target after reading. */
export type RawTarget = z.output<typeof targetSchema>;
