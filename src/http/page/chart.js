// Charts over time, drawn as SVG. All of them share one time axis, so that a slow probe stands above its cause.

import { el, reconcile, setText, svg } from './dom.js';
import { formatClock } from './format.js';
import { areaPath, GUTTER, linePath, scaleFor, TOP, timeTicks, valueAt, visible } from './scale.js';

const MARKERS = {
  disc: (px, py, className) => svg('circle', { cx: px, cy: py, r: 2.6, class: `marker ${className}` }),
  ring: (px, py, className) => svg('circle', { cx: px, cy: py, r: 2.6, class: `marker hollow ${className}` }),
  square: (px, py, className) =>
    svg('rect', { x: px - 2.4, y: py - 2.4, width: 4.8, height: 4.8, class: `marker ${className}` }),
  box: (px, py, className) =>
    svg('rect', { x: px - 2.4, y: py - 2.4, width: 4.8, height: 4.8, class: `marker hollow ${className}` }),
};

const cross = (px, py, label) =>
  svg('path', { d: `M${px - 3.5},${py - 3.5}l7,7m0,-7l-7,7`, class: 'fail-mark' }, svg('title', { text: label }));

/** A sample of the line for the legend, in the same stroke and marker. */
function swatch(series) {
  const sample = svg('svg', { viewBox: '0 0 22 10', class: 'swatch', 'aria-hidden': 'true' });
  sample.append(
    svg('path', { d: 'M1,5H21', class: series.className === 'threshold' ? 'threshold' : `line ${series.className}` }),
  );
  if (series.marker) sample.append(MARKERS[series.marker](11, 5, series.className));
  return sample;
}

/** What the legend lists: the series with their values, and the objective, whose value is in its name. */
const legendOf = (series, threshold) =>
  threshold ? [...series, { name: threshold.label, className: 'threshold', line: null }] : series;

function drawFrame(root, spec, scale, view, width, x) {
  const right = width - GUTTER.right;
  for (const tick of scale.ticks) {
    const py = scale.y(tick).toFixed(1);
    root.append(svg('line', { x1: GUTTER.left, x2: right, y1: py, y2: py, class: 'grid' }));
    root.append(
      svg('text', {
        x: GUTTER.left - 8,
        y: py,
        class: 'tick',
        'text-anchor': 'end',
        dy: '0.32em',
        text: spec.tick(tick),
      }),
    );
  }
  for (const tick of timeTicks(view.from, view.to, right - GUTTER.left)) {
    const px = x(tick).toFixed(1);
    root.append(svg('line', { x1: px, x2: px, y1: TOP, y2: scale.bottom, class: 'grid' }));
    if (spec.axis) {
      root.append(
        svg('text', {
          x: px,
          y: scale.bottom + 15,
          class: 'tick',
          'text-anchor': 'middle',
          text: formatClock(tick, false),
        }),
      );
    }
  }
}

function drawSeries(root, series, scale, x) {
  const { line, className } = series;
  if (series.area)
    root.append(svg('path', { d: areaPath(line, x, scale.y, scale.bottom), class: `area ${className}` }));
  root.append(svg('path', { d: linePath(line, x, scale.y, series.step), class: `line ${className}` }));
  if (!series.marker) return;
  for (const [at, value] of line) {
    if (value !== null) root.append(MARKERS[series.marker](x(at), scale.y(value), className));
  }
}

function drawBars(root, bars, scale, x, view) {
  const width = Math.max(2, ((x(view.to) - x(view.from)) / (view.to - view.from)) * view.step - 1.5);
  for (const { at, count } of bars) {
    const py = scale.y(count);
    const left = x(at);
    root.append(
      svg('rect', {
        x: left.toFixed(1),
        y: py.toFixed(1),
        // The step that is under way ends beyond the chart.
        width: Math.max(1, Math.min(width, x(view.to) - left)),
        height: Math.max(1, scale.bottom - py),
        class: 'bar-mark',
        rx: 1,
      }),
    );
  }
}

function drawThreshold(root, threshold, scale, width) {
  const py = scale.y(threshold.value).toFixed(1);
  root.append(svg('line', { x1: GUTTER.left, x2: width - GUTTER.right, y1: py, y2: py, class: 'threshold' }));
}

/** Draws what a chart shows into an emptied SVG. */
function draw(root, spec, data, view, width) {
  const { height } = spec;
  const x = (at) => GUTTER.left + ((at - view.from) / (view.to - view.from)) * (width - GUTTER.left - GUTTER.right);
  const values = [
    ...data.series.flatMap(({ line }) => line.map(([, value]) => value).filter((value) => value !== null)),
    ...(data.bars ?? []).map(({ count }) => count),
    ...(data.threshold ? [data.threshold.value] : []),
  ];
  const scale = scaleFor(spec, values, height);
  root.setAttribute('viewBox', `0 0 ${width} ${height}`);
  root.setAttribute('height', height);
  root.replaceChildren();
  drawFrame(root, spec, scale, view, width, x);
  if (data.bars) drawBars(root, data.bars, scale, x, view);
  for (const series of data.series) drawSeries(root, series, scale, x);
  if (data.threshold) drawThreshold(root, data.threshold, scale, width);
  for (const { at, label } of data.failures ?? []) root.append(cross(x(at), TOP + 4, label));
  if (view.hover !== null) {
    const px = x(view.hover).toFixed(1);
    root.append(svg('line', { x1: px, x2: px, y1: TOP - 4, y2: scale.bottom, class: 'reading' }));
  }
}

/**
 * A chart. `update(data, view)`: `view` has from, to, hover (or null) in seconds since 1970; `data` has series
 * ({name, className, line, marker?, area?, step?}), and where wanted threshold, failures, bars, and `spoken`, the
 * whole chart in a sentence.
 */
export function createChart(spec) {
  const legend = el('ul', { class: 'legend' });
  const root = svg('svg', { class: 'chart-svg', role: 'img', preserveAspectRatio: 'none' });
  const node = el('figure', { class: 'chart' }, el('figcaption', {}, el('h3', { text: spec.title }), legend), root);
  function update(data, view) {
    const width = Math.max(240, Math.round(node.clientWidth));
    const clipped = { ...data, series: data.series.map((one) => ({ ...one, line: visible(one.line, view.from) })) };
    draw(root, spec, clipped, view, width);
    root.setAttribute('aria-label', `${spec.title}. ${data.spoken}`);
    const reach = Math.max(20, (view.to - view.from) / 12);
    reconcile(
      legend,
      legendOf(clipped.series, data.threshold),
      ({ name }) => name,
      (series) => el('li', {}, swatch(series), el('span', { class: 'legend-name', text: series.name }), el('b')),
      (item, { line }) =>
        setText(item.lastElementChild, line === null ? '' : spec.format(valueAt(line, view.hover ?? view.to, reach))),
    );
  }
  return { node, update };
}
