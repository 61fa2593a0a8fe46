// Numbers and words as people read them. Nothing here knows the document.

export const NOTHING = '–';

/** Seconds with three significant digits and the unit that fits. */
export function formatSeconds(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value < 0.001) return `${(value * 1000).toFixed(2)} ms`;
  if (value < 0.01) return `${(value * 1000).toFixed(1)} ms`;
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 9.995) return `${value.toFixed(2)} s`;
  return value < 99.95 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
}

/** Seconds on an axis: no more digits than the tick has. */
export function formatTick(value) {
  if (value < 1) return `${Number((value * 1000).toPrecision(2))} ms`;
  return `${Number(value.toPrecision(2))} s`;
}

export function formatPercent(ratio) {
  return ratio === null || ratio === undefined ? NOTHING : `${Math.round(ratio * 100)} %`;
}

export function formatCount(value) {
  return value === null || value === undefined ? NOTHING : Math.round(value).toLocaleString('en');
}

const two = (value) => String(value).padStart(2, '0');

/** The reader's own time of day. */
export function formatClock(unix, withSeconds = true) {
  const date = new Date(unix * 1000);
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return withSeconds ? `${minutes}:${two(date.getSeconds())}` : minutes;
}

/** A length of time in one unit. */
export function formatAge(seconds) {
  if (seconds < 1.5) return '1 s';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export const plural = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

/** A label value as words. */
export const words = (name) => (name ?? NOTHING).replaceAll('_', ' ');

const CAUSES = {
  client: 'The exporter itself was late',
  engine_restart: 'The engine restarted',
  engine_hang: 'The engine hangs',
  rate_limit: 'Rate limit',
  preemption: 'Preemption',
  queueing: 'Queueing',
  kv_pressure: 'KV cache pressure',
  prefill_contention: 'Prefill contention',
  network: 'Network',
  unknown: 'Cause unknown',
};

export const causeName = (cause) => CAUSES[cause] ?? words(cause);

/** One sentence that says why, from the values that the cause was taken from. */
export function causeSentence(cause, evidence) {
  const e = evidence ?? {};
  const kv = formatPercent(e.kv_usage_ratio_max);
  const sentences = {
    client: `The exporter's event loop stood still for ${formatSeconds(e.event_loop_delay_seconds)}; this says nothing about the endpoint.`,
    engine_restart: 'The engine process was replaced while the probe ran.',
    engine_hang: 'Requests were in the engine while its token counters stood still.',
    rate_limit: 'The endpoint refused the request for its rate limit.',
    preemption: `${plural(e.preemptions_increase ?? 0, 'request')} lost their place in the KV cache while the probe ran; it was up to ${kv} full.`,
    queueing: `Up to ${plural(e.waiting_max ?? 0, 'request')} waited for admission while the probe ran.`,
    kv_pressure: `The KV cache was up to ${kv} full.`,
    prefill_contention: `Nothing waited, but up to ${plural(e.running_max ?? 0, 'other request')} ran; their prefills hold up everybody's tokens.`,
    network: `Connecting and headers took ${formatSeconds((e.connect_seconds ?? 0) + (e.headers_seconds ?? 0))} while the engine had room.`,
    unknown: 'Nothing that was measured explains it.',
  };
  return sentences[cause] ?? '';
}

/** The values behind a cause, in the order of reading. */
export function evidenceRows(evidence) {
  if (!evidence) return [];
  const rows = [
    ['KV cache, highest', formatPercent(evidence.kv_usage_ratio_max)],
    ['Running, highest', formatCount(evidence.running_max)],
    ['Waiting, highest', formatCount(evidence.waiting_max)],
    [
      'Preemptions',
      evidence.preemptions_increase === null ? NOTHING : `+${formatCount(evidence.preemptions_increase)}`,
    ],
    ['Zone', words(evidence.zone)],
    ['Connect', formatSeconds(evidence.connect_seconds)],
    ['Headers', formatSeconds(evidence.headers_seconds)],
    ['Longest gap', formatSeconds(evidence.longest_gap_seconds)],
    ['Event-loop delay', formatSeconds(evidence.event_loop_delay_seconds)],
    ['Engine samples', formatCount(evidence.samples)],
  ];
  return rows.filter(([, value]) => value !== NOTHING);
}

export const STATE_WORDS = { good: 'Good', slow: 'Slow', failing: 'Failing' };
export const STATE_LINES = { paused: 'Paused', asleep: 'Asleep', none: 'No probe yet', ...STATE_WORDS };
/** A sign for each state, so that colour is never the only one. */
export const STATE_SIGNS = { good: '●', slow: '▲', failing: '✕', none: '○', paused: '❚❚', asleep: '☾' };

/** A probe in one line, for labels and for ears. */
export function describeProbe(probe, profile) {
  const parts = [formatClock(probe.at), profile, probe.warmup ? 'warm-up' : probe.state];
  if (probe.reason !== null) parts.push(words(probe.reason));
  if (probe.ttft !== null) parts.push(`TTFT ${formatSeconds(probe.ttft)}`);
  if (probe.tpot !== null) parts.push(`TPOT ${formatSeconds(probe.tpot)}`);
  if (probe.cause !== null) parts.push(`cause ${words(probe.cause)}`);
  if (probe.buffered) parts.push('buffered');
  if (probe.disturbed) parts.push('disturbed');
  return parts.join(', ');
}
