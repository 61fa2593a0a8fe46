// One probe from its request to its end, in a dialog.

import { byId, el, fillTerms, svg } from './dom.js';
import {
  causeName,
  causeSentence,
  evidenceRows,
  formatCount,
  formatSeconds,
  formatTick,
  NOTHING,
  words,
} from './format.js';

const WIDTH = 720;
const LEFT = 8;
const RIGHT = 8;

/** How it went, in a state and a sentence. Only a slow or failed probe has a cause. */
function verdict(record) {
  if (record.outcome === 'failed') {
    return ['failing', `✕ Failed: ${words(record.reason)} (stage ${words(record.stage)}, side ${record.side})`];
  }
  const end = `finished (${record.finish_reason ?? 'no reason given'}) after ${formatSeconds(record.duration_seconds)}`;
  return record.cause === null ? ['good', `● Good: ${end}`] : ['slow', `▲ Slow: ${end}`];
}

const niceStep = (span) => {
  const power = 10 ** Math.floor(Math.log10(span / 5));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => span / step <= 6);
};

/** Moments worth a name, in the order of time. */
function moments(record) {
  const found = [
    ['headers', record.phases.headers],
    ['first event', record.ttfe_seconds],
    ['first token', record.ttft_seconds],
    ['first visible text', record.ttfc_seconds !== record.ttft_seconds ? record.ttfc_seconds : null],
    [record.outcome === 'good' ? 'end' : 'failure', record.duration_seconds],
  ];
  return found.filter(([, at]) => at !== null);
}

function drawAxis(root, span, x, y) {
  const step = niceStep(span);
  for (let tick = 0; tick <= span; tick += step) {
    root.append(svg('line', { x1: x(tick), x2: x(tick), y1: 20, y2: y, class: 'grid' }));
    root.append(
      svg('text', {
        x: x(tick),
        y: y + 14,
        class: 'tick',
        'text-anchor': 'middle',
        text: tick === 0 ? '0' : formatTick(tick),
      }),
    );
  }
}

/** Prefill as one bar, decode as one tick for each thing that arrived. */
function drawTimeline(record) {
  const span =
    Math.max(0.001, record.duration_seconds ?? 0, ...record.timeline.map((entry) => entry.at_seconds)) * 1.02;
  const x = (at) => LEFT + 16 + (at / span) * (WIDTH - LEFT - RIGHT - 40);
  const root = svg('svg', { viewBox: `0 0 ${WIDTH} 132`, class: 'timeline-svg', role: 'img' });
  root.setAttribute(
    'aria-label',
    moments(record)
      .map(([name, at]) => `${name} at ${formatSeconds(at)}`)
      .join(', '),
  );
  drawAxis(root, span, x, 108);
  const first = record.ttft_seconds ?? record.duration_seconds ?? 0;
  root.append(
    svg('rect', { x: x(0), y: 52, width: Math.max(1, x(first) - x(0)), height: 22, rx: 3, class: 'wait-bar' }),
  );
  if (x(first) - x(0) > 120) {
    root.append(
      svg('text', {
        x: x(0) + 8,
        y: 67,
        class: 'bar-text',
        text: record.ttft_seconds === null ? 'no token' : 'waiting for the first token',
      }),
    );
  }
  for (const entry of record.timeline) {
    const at = x(entry.at_seconds);
    if (entry.kind === 'token') root.append(svg('line', { x1: at, x2: at, y1: 46, y2: 80, class: 'token-tick' }));
    else if (entry.kind === 'error') root.append(svg('path', { d: `M${at - 4},59l8,8m0,-8l-8,8`, class: 'fail-mark' }));
    else if (entry.kind === 'terminal') root.append(svg('line', { x1: at, x2: at, y1: 38, y2: 88, class: 'end-tick' }));
    else root.append(svg('circle', { cx: at, cy: 92, r: 2, class: 'other-mark' }));
  }
  const { ttft_seconds: ttft } = record;
  if (ttft !== null) {
    root.append(svg('line', { x1: x(ttft), x2: x(ttft), y1: 34, y2: 84, class: 'first-token' }));
    root.append(
      svg('text', {
        x: Math.min(x(ttft) + 6, WIDTH - 150),
        y: 36,
        class: 'mark-text',
        text: `first token ${formatSeconds(ttft)}`,
      }),
    );
  }
  return root;
}

const yes = (value) => (value ? 'yes' : 'no');

function rows(record) {
  const connect = ['dns', 'tcp', 'tls'].map((phase) => record.phases[phase]).filter((value) => value !== null);
  return [
    ['Connection', record.connection ?? NOTHING],
    ['Connect', connect.length === 0 ? NOTHING : formatSeconds(connect.reduce((a, b) => a + b, 0))],
    ['Headers', formatSeconds(record.phases.headers)],
    ['First event', formatSeconds(record.ttfe_seconds)],
    ['TTFT', formatSeconds(record.ttft_seconds)],
    ['TPOT', formatSeconds(record.tpot_seconds)],
    ['Longest gap', formatSeconds(record.longest_gap_seconds)],
    ['Duration', formatSeconds(record.duration_seconds)],
    [
      'Output tokens',
      record.output_tokens === null ? NOTHING : `${formatCount(record.output_tokens)} (${record.token_source})`,
    ],
    ['Prompt tokens', formatCount(record.prompt_tokens)],
    ['of these cached', formatCount(record.cached_prompt_tokens)],
    ['HTTP status', record.http_status ?? NOTHING],
    ['Finish reason', record.finish_reason ?? NOTHING],
    ['Buffered', yes(record.buffered)],
    ['Disturbed', yes(record.disturbed)],
    ['API', record.api],
  ];
}

function show(record) {
  const [state, sentence] = verdict(record);
  const terms = el('dl', { class: 'terms wide' });
  fillTerms(terms, rows(record));
  const cause =
    record.cause === null
      ? []
      : [
          el('h3', { text: `Cause: ${causeName(record.cause)}` }),
          el('p', { text: causeSentence(record.cause, record.evidence) }),
        ];
  const evidence = el('dl', { class: 'terms wide' });
  fillTerms(evidence, evidenceRows(record.evidence));
  byId('timeline-body').replaceChildren(
    el('p', { class: 'verdict', 'data-state': state, text: sentence }),
    ...(record.message === null ? [] : [el('p', { text: record.message })]),
    drawTimeline(record),
    terms,
    ...cause,
    ...(record.evidence === null ? [] : [evidence]),
    el('p', {}, el('a', { href: `probes/${encodeURIComponent(record.id)}`, text: 'This probe as JSON' })),
  );
}

/** Opens the dialog with the probe, or says why it cannot be shown. */
export async function openTimeline(id) {
  const dialog = byId('timeline');
  byId('timeline-title').textContent = 'Probe';
  byId('timeline-body').replaceChildren(el('p', { class: 'muted', text: 'Loading' }));
  if (!dialog.open) dialog.showModal();
  try {
    const response = await fetch(`probes/${encodeURIComponent(id)}`);
    if (response.status === 404)
      throw new Error('This probe is not kept any more. Failures are kept longer than successes.');
    if (!response.ok) throw new Error(`The exporter answered with status ${response.status}.`);
    const record = await response.json();
    byId('timeline-title').textContent = `${record.profile}, ${new Date(record.started_at).toLocaleString()}`;
    show(record);
  } catch (error) {
    byId('timeline-body').replaceChildren(
      el('p', { text: error instanceof Error ? error.message : 'It cannot be loaded.' }),
    );
  }
}

/** Wires the dialog's own controls. Escape is the browser's. */
export function mountTimeline() {
  const dialog = byId('timeline');
  byId('timeline-close').addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
}
