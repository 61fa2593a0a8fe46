/**
 * Rule tests: for every alert at least one world in which it fires and the worlds in which it must not.
 * Series use promtool's notation at one sample each 15 s (each minute where `at` is hours); `at` is the instant of the
 * verdict.
 */
export interface RuleCase {
  readonly id: string;
  readonly alert: string;
  readonly severity: string;
  readonly at: string;
  /** How many alerts of this name and severity fire at that instant. */
  readonly firing: number;
  readonly series: Readonly<Record<string, string>>;
}

const POD = 'job="inference-probe",namespace="ml",instance="a:20061",pod="a"';
const OTHER_POD = 'job="inference-probe",namespace="ml",instance="b:20061",pod="b"';
const SERVICE = 'target="llm",model="m"';

const name = (metric: string, labels: string, pod = POD): string =>
  `${metric}{${[pod, SERVICE, labels].filter((part) => part !== '').join(',')}}`;

/** A probe each 15 s: the number of attempts. */
const attempts = (profile = 'cold', pod = POD): Record<string, string> => ({
  [name('inference_probe_attempts_total', `profile="${profile}"`, pod)]: '0+1x2000',
});

const failures = (reason: string, values: string, profile = 'cold', pod = POD): Record<string, string> => ({
  [name('inference_probe_failures_total', `profile="${profile}",reason="${reason}"`, pod)]: values,
});

/** Objective 99 % and threshold, as the exporter publishes them for each profile. */
const objective = (slo: string, ratio: string, threshold: string, pod = POD): Record<string, string> => ({
  [name('inference_probe_slo_objective_ratio', `profile="cold",slo="${slo}"`, pod)]: `${ratio}x2000`,
  [name('inference_probe_slo_threshold_seconds', `profile="cold",slo="${slo}"`, pod)]: `${threshold}x2000`,
});

const slo = (which: string, good: string, events = '0+1x2000', pod = POD): Record<string, string> => ({
  [name('inference_probe_slo_events_total', `profile="cold",slo="${which}"`, pod)]: events,
  [name('inference_probe_slo_good_total', `profile="cold",slo="${which}"`, pod)]: good,
});

/** A histogram of two buckets beside the threshold: `fast` below it, the rest up to ten seconds. */
const latency = (metric: string, edge: string, fast: string, all: string): Record<string, string> => ({
  [name(`${metric}_bucket`, `profile="cold",outcome="success",le="${edge}"`)]: fast,
  [name(`${metric}_bucket`, 'profile="cold",outcome="success",le="10.0"')]: all,
  [name(`${metric}_bucket`, 'profile="cold",outcome="success",le="+Inf"')]: all,
  [name(`${metric}_count`, 'profile="cold",outcome="success"')]: all,
});

const engine = (metric: string, values: string, labels = ''): Record<string, string> => ({
  [name(`inference_engine_${metric}`, labels)]: values,
});

const user = (id: string, alert: string, at: string, firing: number, series: RuleCase['series']): RuleCase => ({
  id,
  alert,
  severity: 'critical',
  at,
  firing,
  series,
});
const warn = (id: string, alert: string, at: string, firing: number, series: RuleCase['series']): RuleCase => ({
  ...user(id, alert, at, firing, series),
  severity: 'warning',
});

const OUTAGE = '0x40 0+1x2000';
/** Ten good minutes, then none good any more. */
const GOOD_STOPS = '0+1x40 40x2000';
const ALL_GOOD = '0+1x2000';
/** One bad event at ten minutes. */
const ONE_BAD = '0+1x40 40+1x2000';

const failing: readonly RuleCase[] = [
  user('outage', 'InferenceEndpointFailing', '13m', 1, { ...attempts(), ...failures('ttft_timeout', OUTAGE) }),
  user('outage of two pods is one page', 'InferenceEndpointFailing', '13m', 1, {
    ...attempts(),
    ...attempts('cold', OTHER_POD),
    ...failures('ttft_timeout', OUTAGE),
    ...failures('ttft_timeout', OUTAGE, 'cold', OTHER_POD),
  }),
  user('back-off makes failures rare, nothing is good', 'InferenceEndpointFailing', '13m', 1, {
    [name('inference_probe_attempts_total', 'profile="cold"')]:
      '0+1x40 40 41 41 42 42 42 42 43 43 43 43 43 43 44 44 44',
    [name('inference_probe_success', 'profile="cold"')]: '1x40 0x300',
    ...failures('stalled', '0x40 0 1 1 2 2 2 2 3 3 3 3 3 3 4 4 4'),
  }),
  user('three failures among many good probes', 'InferenceEndpointFailing', '13m', 0, {
    ...attempts(),
    ...attempts('warm'),
    [name('inference_probe_success', 'profile="cold"')]: '1x300',
    ...failures('stalled', '0x40 1 1 2 2 3x300'),
  }),
  user('one lone failure', 'InferenceEndpointFailing', '11m', 0, {
    ...attempts(),
    ...failures('ttft_timeout', '0x40 1x2000'),
  }),
  user('a counter born at 1 and never moved', 'InferenceEndpointFailing', '11m', 0, {
    ...attempts(),
    ...failures('ttft_timeout', '_x40 1x2000'),
  }),
  user('no traffic', 'InferenceEndpointFailing', '11m', 0, failures('ttft_timeout', '0x2000')),
  user('half of the scrapes are missing', 'InferenceEndpointFailing', '13m', 1, {
    [name('inference_probe_attempts_total', 'profile="cold"')]: '0+1x40 _ 42 _ 44 _ 46 _ 48 _ 50 _ 52 _ 54 _ 56',
    ...failures('ttft_timeout', '0x40 _ 2 _ 4 _ 6 _ 8 _ 10 _ 12 _ 14 _ 16'),
  }),
  user('the exporter restarts and its counters fall', 'InferenceEndpointFailing', '11m', 0, {
    [name('inference_probe_attempts_total', 'profile="cold"')]: '500+1x40 0+1x2000',
    ...failures('ttft_timeout', '30x40 0x2000'),
  }),
  user('our own key is refused', 'InferenceEndpointFailing', '12m', 0, {
    ...attempts(),
    ...failures('unauthorized', OUTAGE),
  }),
  user('dns', 'InferencePathFailing', '13m', 1, { ...attempts(), ...failures('dns', OUTAGE) }),
  user('engine fails, path does not', 'InferencePathFailing', '12m', 0, {
    ...attempts(),
    ...failures('server_error', OUTAGE),
  }),
  user('429', 'InferenceCapacityExhausted', '13m', 1, { ...attempts(), ...failures('rate_limited', OUTAGE) }),
  user('one 503', 'InferenceCapacityExhausted', '11m', 0, { ...attempts(), ...failures('overloaded', '0x40 1x2000') }),
  warn('our own key is refused', 'InferenceProbeMisconfigured', '12m', 0, {
    ...attempts(),
    ...failures('unauthorized', '0x40 1x2000'),
  }),
  warn('our own key is refused for good', 'InferenceProbeMisconfigured', '25m', 1, {
    ...attempts(),
    ...failures('unauthorized', OUTAGE),
  }),
  user('garbage', 'InferenceDegenerateOutput', '13m', 1, { ...attempts(), ...failures('degenerate_output', OUTAGE) }),
  user('one odd answer', 'InferenceDegenerateOutput', '12m', 0, {
    ...attempts(),
    ...failures('degenerate_output', '0x40 1x2000'),
  }),
  warn('lumps', 'InferenceStreamBuffered', '20m', 1, {
    ...attempts(),
    [name('inference_probe_buffered_streams_total', 'profile="cold"')]: '0x10 0+1x2000',
  }),
  warn('one lump', 'InferenceStreamBuffered', '20m', 0, {
    ...attempts(),
    [name('inference_probe_buffered_streams_total', 'profile="cold"')]: '0x10 1x2000',
  }),
];

/** Probes every five minutes: three failures in three minutes cannot happen, yet an outage must page. */
const rare = (last: string, bad: string): Record<string, string> => ({
  [name('inference_probe_last_success_timestamp_seconds', 'profile="cold"')]: last,
  [name('inference_probe_interval_seconds', 'profile="cold"')]: '300x2000',
  [name('inference_probe_success', 'profile="cold"')]: bad === '0x2000' ? '1x2000' : '1x40 0x2000',
  ...failures('connect_refused', bad),
});

const silent: readonly RuleCase[] = [
  user(
    'outage at the slowest probing',
    'InferenceNoGoodProbe',
    '40m',
    1,
    rare('600x2000', '0x60 1x20 2x20 3x20 4x2000'),
  ),
  user('all is well at the slowest probing', 'InferenceNoGoodProbe', '40m', 0, rare('0+15x2000', '0x2000')),
  user('never good yet', 'InferenceNoGoodProbe', '40m', 0, rare('0x2000', '0x60 1x20 2x20 3x20 4x2000')),
  user('probes stop', 'InferenceNoProbeRan', '20m', 1, {
    [name('inference_probe_last_attempt_timestamp_seconds', 'profile="cold"')]: '15+15x20 315x2000',
    [name('inference_probe_interval_seconds', 'profile="cold"')]: '15x2000',
  }),
  user('probes are paused', 'InferenceNoProbeRan', '20m', 0, {
    [name('inference_probe_last_attempt_timestamp_seconds', 'profile="cold"')]: '15+15x20 315x2000',
    [name('inference_probe_interval_seconds', 'profile="cold"')]: '15x2000',
    [name('inference_probe_skipped_total', 'profile="cold",reason="paused"')]: '0x20 0+1x2000',
  }),
  user('probes run', 'InferenceNoProbeRan', '20m', 0, {
    [name('inference_probe_last_attempt_timestamp_seconds', 'profile="cold"')]: '0+15x2000',
    [name('inference_probe_interval_seconds', 'profile="cold"')]: '15x2000',
  }),
];

const burning: readonly RuleCase[] = [
  user('everything bad for ten minutes', 'InferenceSLOFastBurn', '75m', 1, {
    ...objective('availability', '0.99', '0'),
    ...slo('availability', '0+1x260 260x2000'),
  }),
  user('one lone failure', 'InferenceSLOFastBurn', '12m', 0, {
    ...objective('availability', '0.99', '0'),
    ...slo('availability', ONE_BAD),
  }),
  user('one lone failure at 99.9 % and one probe a minute', 'InferenceSLOFastBurn', '62m', 0, {
    ...objective('availability', '0.999', '0'),
    ...slo('availability', '0 0 0 1 1 1 1 2 2 2 2 3 3 3 3', '0 0 0 1 1 1 1 2 2 2 2 4 4 4 4'),
  }),
  user('no events', 'InferenceSLOFastBurn', '75m', 0, {
    ...objective('availability', '0.99', '0'),
    ...slo('availability', '100x2000', '100x2000'),
  }),
  warn('four percent bad for hours', 'InferenceSLOSlowBurn', '6h30m', 1, {
    ...objective('availability', '0.99', '0'),
    ...slo('availability', '0+0.96x2000'),
  }),
  warn('half a percent bad for hours', 'InferenceSLOSlowBurn', '6h30m', 0, {
    ...objective('availability', '0.99', '0'),
    ...slo('availability', '0+0.995x2000'),
  }),
];

const latencies: readonly RuleCase[] = (['ttft', 'tpot'] as const).flatMap((which) => {
  const upper = which === 'ttft' ? 'TTFT' : 'TPOT';
  const metric = `inference_probe_${which}_seconds`;
  const edge = which === 'ttft' ? '2.0' : '0.1';
  const world = (fast: string, good: string) => ({
    ...objective(which, '0.95', edge),
    ...slo(which, good),
    ...latency(metric, edge, fast, '0+1x2000'),
  });
  return [
    user(`two minutes of harm to ${upper}`, `Inference${upper}Degraded`, '13m', 1, world('0+1x40 40x2000', GOOD_STOPS)),
    user(`one slow ${upper}`, `Inference${upper}Degraded`, '12m', 0, world(ONE_BAD, ONE_BAD)),
    user(`${upper} far over for half an hour`, `Inference${upper}High`, '45m', 1, world('0+0.5x2000', '0+0.5x2000')),
    warn(`${upper} over for an hour`, `Inference${upper}High`, '70m', 1, world('0+0.95x2000', '0+0.95x2000')),
    warn(`${upper} fine`, `Inference${upper}High`, '70m', 0, world('0+1x2000', ALL_GOOD)),
    warn(`too few samples of ${upper}`, `Inference${upper}High`, '12m', 0, world('0+0.5x2000', '0+0.5x2000')),
    user(`no samples of ${upper} (NaN)`, `Inference${upper}High`, '45m', 0, {
      ...world('500x2000', '500x2000'),
      ...latency(metric, edge, '500x2000', '510x2000'),
    }),
  ];
});

const PREEMPTIONS = engine('preemptions_total', '0x40 3x2000', 'dp_rank=""');
const engineSide: readonly RuleCase[] = [
  warn('the first preemption ever', 'InferencePreemptions', '11m', 1, engine('preemptions_total', '0x40 1x2000')),
  warn('no preemption', 'InferencePreemptions', '11m', 0, engine('preemptions_total', '0x2000')),
  warn(
    'the engine restarts; our counter goes on',
    'InferencePreemptions',
    '21m',
    0,
    engine('preemptions_total', '7x2000'),
  ),
  user('preemptions with harm', 'InferencePreemptions', '13m', 1, {
    ...PREEMPTIONS,
    ...objective('ttft', '0.95', '2'),
    ...slo('ttft', GOOD_STOPS),
  }),
  user('preemptions with a standing queue', 'InferencePreemptions', '15m', 1, {
    ...PREEMPTIONS,
    ...engine('requests_waiting', '4x2000'),
  }),
  user('preemptions alone', 'InferencePreemptions', '12m', 0, {
    ...PREEMPTIONS,
    ...objective('ttft', '0.95', '2'),
    ...slo('ttft', ALL_GOOD),
    ...engine('requests_waiting', '0x2000'),
  }),
  user('one preemption and one slow probe', 'InferencePreemptions', '12m', 0, {
    ...engine('preemptions_total', '0x40 1x2000'),
    ...objective('ttft', '0.95', '2'),
    ...slo('ttft', ONE_BAD),
  }),
  warn('full for long', 'InferenceKVCacheNearFull', '20m', 1, engine('kv_cache_usage_ratio', '0.98x2000')),
  warn(
    'full for a moment',
    'InferenceKVCacheNearFull',
    '20m',
    0,
    engine('kv_cache_usage_ratio', '0.2x60 1x4 0.2x2000'),
  ),
  warn('no KV metric on this engine', 'InferenceKVCacheNearFull', '20m', 0, engine('requests_running', '8x2000')),
  warn('queue grows while KV usage is low', 'InferenceQueueGrowing', '20m', 1, {
    ...engine('requests_waiting', '1+1x2000'),
    ...engine('kv_cache_usage_ratio', '0.2x2000'),
  }),
  warn(
    'queue goes up and down',
    'InferenceQueueGrowing',
    '20m',
    0,
    engine('requests_waiting', '4 0 4 0 4 0'.concat(' 4 0'.repeat(200))),
  ),
  user('frozen', 'InferenceEngineHung', '13m', 1, engine('hung', '0x40 1x2000')),
  user('not frozen', 'InferenceEngineHung', '12m', 0, engine('hung', '0x2000')),
  warn('page gone', 'InferenceEngineDown', '14m', 1, {
    ...engine('up', '1x40 0x2000'),
    ...engine('last_poll_timestamp_seconds', '0+15x40 600x2000'),
  }),
  warn('an engine without metrics', 'InferenceEngineDown', '14m', 0, {
    ...engine('up', '0x2000'),
    ...engine('last_poll_timestamp_seconds', '0x2000'),
  }),
  user('restart loop', 'InferenceEngineRestarting', '20m', 1, engine('restarts_total', '0x20 1x10 2x10 3x10 4x2000')),
  user('one restart', 'InferenceEngineRestarting', '20m', 0, engine('restarts_total', '0x20 1x2000')),
  warn('one rank full', 'InferenceDataParallelSkew', '25m', 1, {
    ...engine('kv_cache_usage_ratio', '0.9x2000', 'dp_rank="0"'),
    ...engine('kv_cache_usage_ratio', '0.1x2000', 'dp_rank="1"'),
  }),
  warn('ranks even', 'InferenceDataParallelSkew', '25m', 0, {
    ...engine('kv_cache_usage_ratio', '0.9x2000', 'dp_rank="0"'),
    ...engine('kv_cache_usage_ratio', '0.8x2000', 'dp_rank="1"'),
  }),
];

const BUILD = `inference_probe_exporter_build_info{${POD},version="0.1.0"}`;
const UP = 'up{job="inference-probe",instance="a:20061"}';
const RELOAD = `inference_probe_exporter_config_last_reload_successful{${POD}}`;
const EXPIRY = name('inference_probe_tls_certificate_expiry_timestamp_seconds', '');
const disturbed = (values: string) => ({
  ...attempts(),
  [name('inference_probe_disturbed_samples_total', 'profile="cold"')]: values,
});
const budget = (values: string) => ({
  [name('inference_probe_skipped_total', 'profile="cold",reason="budget"')]: values,
});

const self: readonly RuleCase[] = [
  user('scrapes fail', 'InferenceProbeExporterDown', '15m', 1, { [BUILD]: '1x40', [UP]: '1x40 0x2000' }),
  user('somebody else is down', 'InferenceProbeExporterDown', '15m', 0, {
    [BUILD]: '1x2000',
    'up{job="node",instance="n:9100"}': '0x2000',
  }),
  user('the pod is deleted', 'InferenceProbeExporterAbsent', '25m', 1, { [BUILD]: '1x40 stale' }),
  user('scrapes fail: the exporter is down, not absent', 'InferenceProbeExporterAbsent', '25m', 0, {
    [BUILD]: '1x40 stale',
    [UP]: '1x40 0x2000',
  }),
  user('never installed', 'InferenceProbeExporterAbsent', '25m', 0, { 'up{job="node",instance="n:9100"}': '1x2000' }),
  user('one of two replicas is gone', 'InferenceProbeExporterAbsent', '25m', 0, {
    [BUILD]: '1x40 stale',
    [`inference_probe_exporter_build_info{${OTHER_POD},version="0.1.0"}`]: '1x2000',
  }),
  warn('every second sample', 'InferenceProbeDisturbed', '30m', 1, disturbed('0+0.5x2000')),
  warn('one in a hundred', 'InferenceProbeDisturbed', '30m', 0, disturbed('0+0.01x2000')),
  warn('budget spent', 'InferenceProbeBudgetExhausted', '13m', 1, budget('0x20 0+1x2000')),
  warn('budget left', 'InferenceProbeBudgetExhausted', '12m', 0, budget('0x2000')),
  warn('five hours', 'InferenceProbePaused', '5h', 1, { [name('inference_probe_paused', '')]: '1x2000' }),
  warn('one hour', 'InferenceProbePaused', '5h', 0, { [name('inference_probe_paused', '')]: '0x240 1x2000' }),
  warn('refused', 'InferenceProbeConfigReloadFailed', '20m', 1, { [RELOAD]: '1x20 0x2000' }),
  warn('accepted', 'InferenceProbeConfigReloadFailed', '20m', 0, { [RELOAD]: '1x2000' }),
  warn('ten days left', 'InferenceCertificateExpiring', '20m', 1, { [EXPIRY]: '864000x2000' }),
  user('ten days left are no page', 'InferenceCertificateExpiring', '20m', 0, { [EXPIRY]: '864000x2000' }),
  user('two days left', 'InferenceCertificateExpiring', '20m', 1, { [EXPIRY]: '172800x2000' }),
  warn('a year left', 'InferenceCertificateExpiring', '20m', 0, { [EXPIRY]: '31536000x2000' }),
  { id: 'always', alert: 'InferenceProbeHeartbeat', severity: 'none', at: '1m', firing: 1, series: {} },
];

/** Two models of one target are two pages; the healthy one is in neither. */
const twoModels: readonly RuleCase[] = [
  user('one of two models fails', 'InferenceEndpointFailing', '13m', 1, {
    ...attempts(),
    ...failures('ttft_timeout', OUTAGE),
    [`inference_probe_attempts_total{${POD},target="llm",model="other",profile="cold"}`]: '0+1x2000',
    [`inference_probe_failures_total{${POD},target="llm",model="other",profile="cold",reason="ttft_timeout"}`]:
      '0x2000',
  }),
];

export const ruleCases: readonly RuleCase[] = [
  ...failing,
  ...silent,
  ...burning,
  ...latencies,
  ...engineSide,
  ...self,
  ...twoModels,
];

/**
 * An hour of a healthy service as it really is: now and then a lone failure, a slow probe, a preemption, a short queue.
 * Nothing of it may page.
 */
export const healthyHour: Readonly<Record<string, string>> = {
  [BUILD]: '1x300',
  [UP]: '1x300',
  ...attempts(),
  ...attempts('warm'),
  ...failures('connection_lost', '0x60 1x70 2x300'),
  ...failures('ttft_timeout', '0x100 1x300', 'warm'),
  ...failures('overloaded', '0x150 1x300'),
  ...objective('availability', '0.99', '0'),
  ...slo('availability', '0+1x60 60+1x70 130+1x300'),
  ...objective('ttft', '0.95', '2'),
  ...slo('ttft', '0+1x60 60+1x40 100+1x30 130+1x300'),
  ...latency('inference_probe_ttft_seconds', '2.0', '0+1x60 60+1x70 130+1x300', '0+1x2000'),
  ...engine('preemptions_total', '0x50 1x60 2x80 3x300', 'dp_rank=""'),
  ...engine('requests_waiting', '0x50 3x4 0x56 2x2 0x300', 'dp_rank=""'),
  ...engine('kv_cache_usage_ratio', '0.6x50 1x4 0.7x300', 'dp_rank=""'),
  ...engine('hung', '0x300'),
  ...engine('up', '1x300'),
  ...engine('restarts_total', '0x120 1x300'),
};
