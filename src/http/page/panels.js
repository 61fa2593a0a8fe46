// The parts of the page, each filled from the store. Nodes that stay are kept, so that focus and selection survive.

import { createChart, createZoneBand } from './chart.js';
import { byId, el, fillTerms, reconcile, setAttributes, setText } from './dom.js';
import {
  causeName,
  causeSentence,
  describeProbe,
  evidenceRows,
  formatAge,
  formatClock,
  formatCount,
  formatPercent,
  formatSeconds,
  formatTick,
  NOTHING,
  plural,
  STATE_SIGNS,
  STATE_WORDS,
  words,
} from './format.js';
import { lineOf, preemptionSteps, zoneStretches } from './store.js';

const MARKERS = ['disc', 'ring', 'square', 'box'];
const seriesClass = (index) => `s${index % 4}`;

/** State, paused and asleep of a target in one key. */
function stateKey(target) {
  if (target.paused) return 'paused';
  if (target.engine?.asleep) return 'asleep';
  return target.state ?? 'none';
}

const STATE_LINES = { paused: 'Paused', asleep: 'Asleep', none: 'No probe yet', ...STATE_WORDS };

export function renderTargets(live, selected, onSelect) {
  const section = byId('targets');
  section.hidden = live.targets.length < 2;
  reconcile(
    section,
    live.targets,
    ({ name }) => name,
    ({ name }) =>
      el(
        'button',
        { type: 'button', class: 'target', onclick: () => onSelect(name) },
        el('span', { class: 'sign', 'aria-hidden': 'true' }),
        el('span', { class: 'target-name', text: name }),
        el('span', { class: 'muted' }),
      ),
    (node, target) => {
      const key = stateKey(target);
      setAttributes(node, { 'data-state': key, 'aria-pressed': target.name === selected });
      setText(node.children[0], STATE_SIGNS[key]);
      setText(node.children[2], target.engine?.zone ? `${STATE_LINES[key]}, ${target.engine.zone}` : STATE_LINES[key]);
    },
  );
}

export function renderHero(live) {
  const { detail } = live;
  const target = live.targets.find(({ name }) => name === detail.name);
  const key = stateKey(target);
  setText(byId('target-name'), target.name);
  setAttributes(byId('state'), { 'data-state': key });
  setText(byId('state'), `${STATE_SIGNS[key]} ${STATE_LINES[key]}`);
  const counted = target.since === null ? '' : `since ${formatClock(target.since)}, ${plural(target.probes, 'probe')}`;
  setText(byId('since'), counted);
  const { engine } = detail;
  const kept = [
    ['Model', detail.model ?? 'not known yet'],
    ['Engine', engine === null ? 'no metrics' : `${engine.name} ${engine.version ?? ''}`.trim()],
    ['Seen from', target.vantage],
  ];
  fillTerms(byId('facts'), kept);
  document.title = `${STATE_SIGNS[key]} ${target.name} · inference-probe`;
}

function probeCell(probe, profile, onOpen) {
  const label = describeProbe(probe, profile);
  const state = probe.warmup ? 'warmup' : probe.state;
  const cell = el('button', {
    type: 'button',
    class: 'cell',
    'data-state': state,
    title: label,
    'aria-label': label,
    tabindex: -1,
    onclick: () => onOpen(probe.id),
  });
  cell.append(el('span', { class: 'cell-bar', 'aria-hidden': 'true', text: state === 'failing' ? '✕' : '' }));
  return cell;
}

/** Height of a probe in the strip in steps of a tenth: 40 % of it is the threshold. */
function cellLevel(probe, threshold) {
  if (probe.state === 'failing') return 10;
  const share = Math.log1p((probe.ttft ?? 0) / threshold) / Math.log1p(6);
  return Math.max(1, Math.min(10, Math.round(share * 10)));
}

/** Arrow keys walk along the strip; only one of its probes is in the order of tabs. */
function walk(event) {
  const cells = [...event.currentTarget.children];
  const index = cells.indexOf(document.activeElement);
  const steps = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: cells.length - 1 };
  const next = cells[steps[event.key]];
  if (next === undefined) return;
  event.preventDefault();
  for (const cell of cells) cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function profileCard(profile) {
  const strip = el('div', {
    class: 'strip',
    role: 'group',
    'aria-label': `Last probes of ${profile.name}, oldest first. Arrow keys move, Enter opens.`,
    onkeydown: walk,
  });
  const figure = (name) =>
    el('div', { class: 'figure' }, el('dt', { text: name }), el('dd'), el('dd', { class: 'muted limit' }));
  return el(
    'article',
    { class: 'profile card', 'aria-label': `Profile ${profile.name}` },
    el(
      'div',
      { class: 'profile-head' },
      el('h2', { text: profile.name }),
      el('span', { class: 'muted' }),
      el('span', { class: 'pill' }),
    ),
    el('dl', { class: 'figures' }, figure('TTFT'), figure('TPOT')),
    strip,
  );
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)];
};

function fillFigure(node, last, values, threshold) {
  const over = last !== null && last > threshold;
  setText(node.children[1], formatSeconds(last));
  setAttributes(node, { 'data-over': over ? 'yes' : 'no' });
  setText(
    node.children[2],
    `${over ? '▲ over' : 'within'} ${formatTick(threshold)} · median ${formatSeconds(median(values))}`,
  );
}

const known = (probes, key) => probes.map((probe) => probe[key]).filter((value) => value !== null);

export function renderProfiles(live, store, onOpen) {
  const { detail } = live;
  reconcile(
    byId('profiles'),
    detail.profiles,
    ({ name }) => name,
    profileCard,
    (card, profile) => {
      const [head, figures, strip] = card.children;
      const probes = (store.probes.get(profile.name) ?? []).slice(-60);
      const counting = probes.filter((probe) => !probe.warmup);
      const last = counting.at(-1) ?? null;
      const key = profile.state?.state ?? 'none';
      const kind = profile.prefix === 'shared' ? 'shared prefix, warm cache' : 'unique prefix, full prefill';
      setText(
        head.children[1],
        profile.everySeconds === null ? kind : `${kind} · every ${formatAge(profile.everySeconds)}`,
      );
      setText(head.children[2], `${STATE_SIGNS[key]} ${STATE_LINES[key]}`);
      setAttributes(head.children[2], { 'data-state': key });
      fillFigure(figures.children[0], last?.ttft ?? null, known(counting, 'ttft'), detail.thresholds.ttft);
      fillFigure(figures.children[1], last?.tpot ?? null, known(counting, 'tpot'), detail.thresholds.tpot);
      reconcile(
        strip,
        probes,
        ({ id }) => id,
        (probe) => probeCell(probe, profile.name, onOpen),
        (cell, probe) => {
          setAttributes(cell.firstElementChild, { class: `cell-bar h${cellLevel(probe, detail.thresholds.ttft)}` });
        },
      );
      const cells = [...strip.children];
      if (cells.length > 0 && !cells.some((cell) => cell.tabIndex === 0)) cells.at(-1).tabIndex = 0;
    },
  );
}

const CHARTS = {
  ttft: createChart({
    title: 'Time to first token',
    height: 168,
    scale: 'log',
    floor: 0.02,
    format: formatSeconds,
    tick: formatTick,
  }),
  tpot: createChart({
    title: 'Time per output token',
    height: 116,
    scale: 'log',
    floor: 0.005,
    format: formatSeconds,
    tick: formatTick,
  }),
  kv: createChart({
    title: 'KV cache in use',
    height: 96,
    scale: 'linear',
    floor: 1,
    max: 1,
    format: formatPercent,
    tick: formatPercent,
  }),
  requests: createChart({
    title: 'Requests',
    height: 104,
    scale: 'linear',
    floor: 4,
    format: formatCount,
    tick: formatCount,
  }),
  preemptions: createChart({
    title: 'Preemptions per 10 s',
    height: 84,
    scale: 'linear',
    floor: 2,
    axis: true,
    format: () => '',
    tick: formatCount,
  }),
};
const ZONES = createZoneBand();
const STEP_SECONDS = 10;

const spokenRange = (values, format) =>
  values.length === 0 ? 'No values.' : `Latest ${format(values.at(-1))}, highest ${format(Math.max(...values))}.`;

function latencySeries(detail, store, key) {
  return detail.profiles.map(({ name }, index) => ({
    name,
    className: seriesClass(index),
    marker: MARKERS[index % 4],
    line: (store.probes.get(name) ?? []).filter((probe) => !probe.warmup).map((probe) => [probe.at, probe[key]]),
  }));
}

function failuresOf(detail, store, from) {
  return detail.profiles.flatMap(({ name }) =>
    (store.probes.get(name) ?? [])
      .filter((probe) => probe.state === 'failing' && !probe.warmup && probe.at >= from)
      .map((probe) => ({ at: probe.at, label: describeProbe(probe, name) })),
  );
}

function engineSeries(name, className, store, column, extra = {}) {
  return { name, className, line: lineOf(store.points, column), ...extra };
}

export function renderCharts(live, store, view) {
  const { detail } = live;
  const ordered = { ...view, step: STEP_SECONDS };
  const latency = (chart, key, threshold, failures) => {
    const series = latencySeries(detail, store, key);
    const values = series.flatMap(({ line }) => line.map(([, value]) => value)).filter((value) => value !== null);
    const spoken = `${spokenRange(values, formatSeconds)} Objective ${formatTick(threshold)}. ${plural(failures.length, 'failed probe')}.`;
    chart.update(
      { series, failures, threshold: { value: threshold, label: `objective ${formatTick(threshold)}` }, spoken },
      ordered,
    );
  };
  latency(CHARTS.ttft, 'ttft', detail.thresholds.ttft, failuresOf(detail, store, view.from));
  latency(CHARTS.tpot, 'tpot', detail.thresholds.tpot, []);
  const hasEngine = detail.engine !== null;
  for (const chart of [CHARTS.kv, CHARTS.requests, CHARTS.preemptions, ZONES]) chart.node.hidden = !hasEngine;
  if (!hasEngine) return;
  const { engine } = detail;
  CHARTS.kv.update(
    {
      series: [engineSeries('in use', 's0', store, 1, { area: true })],
      spoken: `Now ${formatPercent(engine.kvUsage)}, highest of the last minute ${formatPercent(engine.kvUsagePeak)}.`,
    },
    ordered,
  );
  CHARTS.requests.update(
    {
      series: [
        engineSeries('running', 's0', store, 2, { step: true }),
        engineSeries('waiting', 's1', store, 3, { step: true, area: true }),
      ],
      spoken: `${formatCount(engine.running)} running, ${formatCount(engine.waiting)} waiting.`,
    },
    ordered,
  );
  const bars = preemptionSteps(store.points, STEP_SECONDS).filter(({ at }) => at >= view.from);
  CHARTS.preemptions.update(
    { series: [], bars, spoken: `${formatCount(bars.reduce((sum, { count }) => sum + count, 0))} in this range.` },
    ordered,
  );
  ZONES.update(zoneStretches(store.points), ordered, engine.zone);
}

/** Puts the charts in; `onHover(share)` tells where on the time axis the pointer is, 0 to 1 or null. */
export function mountCharts() {
  byId('charts').append(
    CHARTS.ttft.node,
    CHARTS.tpot.node,
    CHARTS.kv.node,
    CHARTS.requests.node,
    ZONES.node,
    CHARTS.preemptions.node,
  );
}

export function renderBad(live, onOpen) {
  const body = byId('bad-body');
  const bad = live.detail.lastBad;
  const key = bad?.id ?? 'none';
  if (body.dataset.shown === key) return;
  body.dataset.shown = key;
  if (bad === null) {
    body.replaceChildren(el('p', { class: 'muted', text: 'None of the probes that are kept was slow or failed.' }));
    return;
  }
  const what =
    bad.reason === null ? `TTFT ${formatSeconds(bad.ttft)}, TPOT ${formatSeconds(bad.tpot)}` : words(bad.reason);
  const terms = el('dl', { class: 'terms' });
  fillTerms(terms, evidenceRows(bad.evidence));
  body.replaceChildren(
    el('p', {
      class: 'bad-cause',
      text: bad.cause === null ? 'No engine metrics to explain it' : causeName(bad.cause),
    }),
    ...(bad.cause === null ? [] : [el('p', { text: causeSentence(bad.cause, bad.evidence) })]),
    el('p', {
      class: 'muted',
      text: `${formatClock(bad.at)} · ${bad.profile} · ${STATE_SIGNS[bad.state]} ${STATE_WORDS[bad.state].toLowerCase()}: ${what}`,
    }),
    terms,
    el('button', { type: 'button', class: 'plain', text: 'Open its timeline', onclick: () => onOpen(bad.id) }),
  );
}

const withPeak = (value, peak, format) =>
  peak === null || value === null ? format(value) : `${format(value)} (peak ${format(peak)})`;

function engineState(engine) {
  if (engine.asleep) return 'asleep';
  if (engine.hung) return '✕ hung';
  return engine.up ? 'answering' : '✕ metrics not readable';
}

export function renderEngine(live) {
  const body = byId('engine-body');
  const { engine } = live.detail;
  if (engine === null) {
    body.replaceChildren(
      el('p', {
        class: 'muted',
        text: 'This engine offers no metrics, or reading them is switched off. Probes go on.',
      }),
    );
    return;
  }
  const list = body.querySelector('dl') ?? body.appendChild(el('dl', { class: 'terms' }));
  const age = engine.lastPollAt === null ? NOTHING : `${formatAge(Math.max(0, live.now - engine.lastPollAt))} ago`;
  const rows = [
    ['State', engineState(engine)],
    ['Zone', words(engine.zone)],
    ['KV cache', withPeak(engine.kvUsage, engine.kvUsagePeak, formatPercent)],
    ['Running', withPeak(engine.running, engine.runningPeak, formatCount)],
    ['Waiting', withPeak(engine.waiting, engine.waitingPeak, formatCount)],
    ['Preemptions', formatCount(engine.preemptions)],
    ['Restarts', formatCount(engine.restarts)],
    ['KV capacity', engine.kvCapacityTokens === null ? NOTHING : `${formatCount(engine.kvCapacityTokens)} tokens`],
    ['Page read', age],
    ...(engine.error === null || engine.up ? [] : [['Error', engine.error]]),
  ];
  fillTerms(list, rows);
}

export function renderRecent(live, store, onOpen) {
  const body = byId('recent-body');
  const all = live.detail.profiles.flatMap(({ name }) =>
    (store.probes.get(name) ?? []).map((probe) => ({ probe, name })),
  );
  const newest = all.sort((a, b) => b.probe.order - a.probe.order).slice(0, 12);
  let table = body.querySelector('table');
  if (table === null) {
    const heads = ['Time', 'Profile', 'TTFT', 'TPOT', 'Result'].map((text) => el('th', { scope: 'col', text }));
    table = el('table', {}, el('thead', {}, el('tr', {}, ...heads)), el('tbody'));
    body.replaceChildren(table);
  }
  reconcile(
    table.tBodies[0],
    newest,
    ({ probe }) => probe.id,
    ({ probe, name }) => {
      const result = probe.warmup
        ? 'warm-up'
        : (probe.reason ?? (probe.state === 'good' ? 'good' : (probe.cause ?? 'slow')));
      const open = el('button', {
        type: 'button',
        class: 'link',
        text: formatClock(probe.at),
        'aria-label': `Open the timeline of ${describeProbe(probe, name)}`,
        onclick: () => onOpen(probe.id),
      });
      const sign = el('span', {
        class: 'sign',
        'data-state': probe.warmup ? 'none' : probe.state,
        'aria-hidden': 'true',
        text: `${STATE_SIGNS[probe.warmup ? 'none' : probe.state]} `,
      });
      return el(
        'tr',
        {},
        el('td', {}, open),
        el('td', { text: name }),
        el('td', { class: 'number', text: formatSeconds(probe.ttft) }),
        el('td', { class: 'number', text: formatSeconds(probe.tpot) }),
        el('td', {}, sign, words(result)),
      );
    },
  );
}
