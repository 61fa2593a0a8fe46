import { Document, isSeq } from 'yaml';
import type { ConnectionSettings } from '../probe/profile.ts';
import { showProxy, showUrl } from './build/url.ts';
import { formatBytes, formatDuration } from './quantities.ts';
import { sourceOf } from './secret.ts';
import type { Config, EngineSettings, KvCacheSettings, ScheduledProfile, Secret, TargetConfig } from './types.ts';

const REDACTED = '<redacted>';

type Plain = Record<string, unknown>;

/** Leaves out what is not set, so that the text can be used as a configuration again. */
const present = (values: Plain): Plain =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

/** Structure, numbers and switches of free-form fields; texts may be prompts. */
function maskTexts(value: unknown): unknown {
  if (typeof value === 'string') return REDACTED;
  if (Array.isArray(value)) return value.map(maskTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskTexts(item)]));
}

const masked = (names: Iterable<string>): Plain | null => {
  const entries = [...names].map((name) => [name, REDACTED]);
  return entries.length === 0 ? null : Object.fromEntries(entries);
};

function maskProfile({ profile, timetable }: ScheduledProfile): Plain {
  const { deadlines, expect } = profile;
  return present({
    name: profile.name,
    every: timetable.everySeconds === null ? null : formatDuration(timetable.everySeconds),
    schedule: timetable.cron,
    // Without it the text would not load again where a deadline is longer than the interval.
    allow_overlap: timetable.everySeconds !== null && timetable.everySeconds < deadlines.totalSeconds ? true : null,
    jitter: formatDuration(timetable.jitterSeconds),
    prefix: profile.prefix,
    connection: profile.connection,
    prompt_tokens: profile.prompt === null ? profile.promptTokens : null,
    prompt: profile.prompt === null ? null : REDACTED,
    max_tokens: profile.maxTokens,
    ignore_eos: profile.ignoreEos,
    temperature: profile.temperature,
    deadlines: {
      connect: formatDuration(deadlines.connectSeconds),
      headers: formatDuration(deadlines.headersSeconds),
      first_token: formatDuration(deadlines.firstTokenSeconds),
      between_tokens: formatDuration(deadlines.betweenTokensSeconds),
      total: formatDuration(deadlines.totalSeconds),
    },
    expect: present({
      min_tokens: expect.minTokens,
      pattern: expect.pattern === null ? null : REDACTED,
      answer: expect.answer === null ? null : REDACTED,
      degenerate: expect.detectDegenerate,
    }),
    extra_body: Object.keys(profile.extraBody).length === 0 ? null : maskTexts(profile.extraBody),
  });
}

const maskMetrics = (metrics: EngineSettings): Plain =>
  present({
    enabled: metrics.enabled,
    url: metrics.metricsUrl === null ? null : showUrl(metrics.metricsUrl),
    every: metrics.everySeconds === null ? null : formatDuration(metrics.everySeconds),
    stale_after: formatDuration(metrics.staleAfterSeconds),
    peak_window: formatDuration(metrics.peakWindowSeconds),
    max_bytes: formatBytes(metrics.maxBytes),
    histograms: metrics.exportHistograms,
    hang_after: formatDuration(metrics.hangAfterSeconds),
  });

function maskConnection(connection: ConnectionSettings): Plain {
  const tls = present({
    ca_file: connection.caFile,
    cert_file: connection.certFile,
    key_file: connection.keyFile,
    server_name: connection.serverName,
    insecure_skip_verify: connection.insecureSkipVerify ? true : null,
  });
  return present({
    family: connection.family,
    address_attempt: formatDuration(connection.addressAttemptSeconds),
    tls: Object.keys(tls).length === 0 ? null : tls,
    proxy_url: connection.proxyUrl === null ? null : showProxy(connection.proxyUrl),
  });
}

const maskKv = (kv: KvCacheSettings): Plain =>
  present({
    capacity_tokens: kv.capacityTokens,
    memory: kv.memoryBytes === null ? null : formatBytes(kv.memoryBytes),
    layers: kv.layers,
    kv_heads: kv.kvHeads,
    head_dim: kv.headDim,
    dtype_bytes: kv.dtypeBytes,
  });

/** The key that a secret came from: its file or variable may be shown, its value never. */
function maskKey(secret: Secret | null): Plain {
  if (secret === null) return {};
  const source = sourceOf(secret) ?? REDACTED;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(source) ? { api_key_env: source } : { api_key_file: source };
}

function maskTarget(target: TargetConfig): Plain {
  const files = Object.entries(target.secretHeaders).map(([name, secret]) => [name, sourceOf(secret) ?? REDACTED]);
  return present({
    name: target.name,
    url: showUrl(target.url),
    model: target.model,
    api: target.api,
    engine: target.engine,
    vantage: target.vantage,
    ...maskKey(target.apiKey),
    headers: masked(Object.keys(target.headers)),
    header_files: files.length === 0 ? null : Object.fromEntries(files),
    paused: target.paused,
    profiles: target.profiles.map(maskProfile),
    slo: {
      availability: { objective: target.slo.availability.objectiveRatio },
      ttft: { threshold: formatDuration(target.slo.ttft.thresholdSeconds), objective: target.slo.ttft.objectiveRatio },
      tpot: { threshold: formatDuration(target.slo.tpot.thresholdSeconds), objective: target.slo.tpot.objectiveRatio },
    },
    budget: { tokens_per_hour: target.budget.tokensPerHour, tokens_per_day: target.budget.tokensPerDay },
    metrics: maskMetrics(target.metrics),
    connection: maskConnection(target.connection),
    warmup_probes: target.warmupProbes,
    kv_cache: target.kvCache === null ? null : maskKv(target.kvCache),
  });
}

/**
 * The effective configuration as YAML: every default filled in, in the form of the configuration file. Values of
 * secrets, headers, prompts and expected answers are masked; URLs lose user, password and query.
 */
export function maskedConfig(config: Config): string {
  const { buckets, web } = config;
  const plain = {
    log: config.log,
    web: present({
      listen_address: web.listenAddress,
      telemetry_path: web.telemetryPath,
      web_config_file: web.webConfigFile,
      enable_pause: web.enablePause,
      enable_reload: web.enableReload,
    }),
    paused: config.paused,
    disturbed_after: formatDuration(config.disturbedAfterSeconds),
    traceparent: config.traceparent,
    ...present({ max_parallel_probes: config.mostParallelProbes }),
    buckets: {
      ttft_seconds: buckets.ttftSeconds,
      tpot_seconds: buckets.tpotSeconds,
      gap_seconds: buckets.gapSeconds,
      duration_seconds: buckets.durationSeconds,
    },
    targets: config.targets.map(maskTarget),
  };
  // Targets often share profiles; repeated text is easier to read than anchors.
  const document = new Document(plain, { aliasDuplicateObjects: false });
  for (const name of Object.keys(plain.buckets)) {
    const bounds = document.getIn(['buckets', name], true);
    if (isSeq(bounds)) bounds.flow = true;
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
