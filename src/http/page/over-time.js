// The charts, one above the other on the same time axis.

import { createChart } from './chart.js';
import { byId } from './dom.js';
import { describeProbe, formatCount, formatPercent, formatSeconds, formatTick, plural } from './format.js';
import { lineOf, preemptionSteps, probeLine, zoneStretches } from './store.js';
import { createZoneBand } from './zone-band.js';

const MARKERS = ['disc', 'ring', 'square', 'box'];
const seriesClass = (index) => `s${index % 4}`;
const CHARTS = {
  ttft: createChart({
    title: 'Time to first token',
    height: 204,
    scale: 'log',
    floor: 0.02,
    format: formatSeconds,
    tick: formatTick,
  }),
  tpot: createChart({
    title: 'Time per output token',
    height: 132,
    scale: 'log',
    floor: 0.005,
    format: formatSeconds,
    tick: formatTick,
  }),
  kv: createChart({
    title: 'KV cache in use',
    height: 106,
    scale: 'linear',
    floor: 1,
    max: 1,
    format: formatPercent,
    tick: formatPercent,
  }),
  requests: createChart({
    title: 'Requests',
    height: 114,
    scale: 'linear',
    floor: 4,
    format: formatCount,
    tick: formatCount,
  }),
  preemptions: createChart({
    title: 'Preemptions per 10 s',
    height: 94,
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
  return detail.profiles.map(({ name, everySeconds }, index) => ({
    name,
    className: seriesClass(index),
    marker: MARKERS[index % 4],
    line: probeLine(store.probes.get(name) ?? [], key, everySeconds),
  }));
}

function failuresOf(detail, store, from) {
  return detail.profiles.flatMap(({ name }) =>
    (store.probes.get(name) ?? [])
      .filter((probe) => probe.state === 'failing' && !probe.warmup && probe.at >= from)
      .map((probe) => ({ at: probe.at, label: describeProbe(probe, name) })),
  );
}

/** A line of the engine that ends with what the answer says of this moment. */
function engineSeries(name, className, store, column, current, extra = {}) {
  const line = lineOf(store.points, column);
  return { name, className, line: current === null ? line : [...line, [store.live.now, current]], ...extra };
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
      series: [engineSeries('in use', 's0', store, 1, engine.kvUsage, { area: true })],
      spoken: `Now ${formatPercent(engine.kvUsage)}, highest of the last minute ${formatPercent(engine.kvUsagePeak)}.`,
    },
    ordered,
  );
  CHARTS.requests.update(
    {
      series: [
        engineSeries('running', 's0', store, 2, engine.running, { step: true }),
        engineSeries('waiting', 's1', store, 3, engine.waiting, { step: true, area: true }),
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
