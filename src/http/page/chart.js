// Charts over time, drawn as SVG. All of them share one time axis, so that a slow probe stands above its cause.

import { el, reconcile, setText, svg } from './dom.js';
import { formatClock } from './format.js';

export const GUTTER = { left: 54, right: 12 };
const TOP = 10;

/** Ticks 1, 2, 5 times powers of ten that lie in the range. */
function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of [1, 2, 5]) ticks.push(step * 10 ** power);
  }
  const inside = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  // Five labels are enough; then whole powers of ten and their halves, then powers alone.
  if (inside.length <= 5) return inside;
  const leading = inside.filter((tick) => /^[15]/.test(tick.toExponential()));
  return leading.length <= 5 ? leading : inside.filter((tick) => tick.toExponential().startsWith('1'));
}

function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * power).find((step) => step >= value * 0.9999) ?? value;
}

/** Where values go: `y` maps a value to a height, `ticks` are worth a line. */
function scaleFor(spec, values, height) {
  const bottom = height - (spec.axis ? 20 : 8);
  const place = (share) => bottom - share * (bottom - TOP);
  if (spec.scale === 'log') {
    const positive = values.filter((value) => value > 0);
    const low = Math.min(...positive, spec.floor) / 1.25;
    const high = Math.max(...positive, spec.floor * 4) * 1.35;
    const span = Math.log(high / low);
    return { bottom, ticks: logTicks(low, high), y: (value) => place(Math.log(Math.max(value, low) / low) / span) };
  }
  const high = spec.max ?? niceCeiling(Math.max(spec.floor, ...values));
  return { bottom, ticks: [0, high / 2, high], y: (value) => place(Math.min(value, high) / high) };
}

function timeTicks(from, to, width) {
  const every = [30, 60, 120, 180, 300, 600].find((step) => ((to - from) / step) * 62 < width) ?? 900;
  const ticks = [];
  for (let tick = Math.ceil(from / every) * every; tick < to; tick += every) ticks.push(tick);
  return ticks;
}

function linePath(line, x, y, step) {
  let path = '';
  let pen = false;
  let height = 0;
  for (const [at, value] of line) {
    if (value === null) {
      pen = false;
      continue;
    }
    const px = x(at).toFixed(1);
    const py = y(value).toFixed(1);
    if (pen && step) path += `L${px},${height}`;
    path += `${pen ? 'L' : 'M'}${px},${py}`;
    height = py;
    pen = true;
  }
  return path;
}

/** The filled space under a line, closed at each hole. */
function areaPath(line, x, y, bottom) {
  const stretches = [[]];
  for (const [at, value] of line) {
    if (value === null) stretches.push([]);
    else stretches.at(-1).push([x(at).toFixed(1), y(value).toFixed(1)]);
  }
  return stretches
    .filter((stretch) => stretch.length > 1)
    .map((stretch) => `M${stretch[0][0]},${bottom}L${stretch.map(String).join('L')}L${stretch.at(-1)[0]},${bottom}Z`)
    .join('');
}

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

/** The newest value at or before `at`, if it is not too far away. */
function valueAt(line, at, reach) {
  let found = null;
  for (const [when, value] of line) {
    if (when > at + reach / 8) break;
    if (value !== null) found = [when, value];
  }
  return found !== null && at - found[0] <= reach ? found[1] : null;
}

/** A sample of the line for the legend, in the same stroke and marker. */
function swatch(series) {
  const sample = svg('svg', { viewBox: '0 0 22 10', class: 'swatch', 'aria-hidden': 'true' });
  sample.append(svg('path', { d: 'M1,5H21', class: `line ${series.className}` }));
  if (series.marker) sample.append(MARKERS[series.marker](11, 5, series.className));
  return sample;
}

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
    root.append(
      svg('rect', {
        x: x(at).toFixed(1),
        y: py.toFixed(1),
        width,
        height: Math.max(1, scale.bottom - py),
        class: 'bar-mark',
        rx: 1,
      }),
    );
  }
}

function drawThreshold(root, threshold, scale, width) {
  const py = scale.y(threshold.value).toFixed(1);
  const right = width - GUTTER.right;
  root.append(svg('line', { x1: GUTTER.left, x2: right, y1: py, y2: py, class: 'threshold' }));
  root.append(
    svg('text', { x: right, y: py - 5, class: 'threshold-label', 'text-anchor': 'end', text: threshold.label }),
  );
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

const visible = (line, from) => {
  const first = line.findIndex(([at]) => at >= from);
  return first < 0 ? [] : line.slice(first);
};

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
      clipped.series,
      ({ name }) => name,
      (series) => el('li', {}, swatch(series), el('span', { class: 'legend-name', text: series.name }), el('b')),
      (item, { line }) => setText(item.lastElementChild, spec.format(valueAt(line, view.hover ?? view.to, reach))),
    );
  }
  return { node, update };
}

const ZONE_LEVEL = { underload: 1, knee: 2, overload: 3 };

/** The load zone as a band: its height, its pattern and its word all say the same. */
export function createZoneBand() {
  const root = svg('svg', { class: 'chart-svg', role: 'img' });
  const node = el('figure', { class: 'chart zone-chart' }, el('figcaption', {}, el('h3', { text: 'Load zone' })), root);
  const height = 48;
  function update(stretches, view, current) {
    const width = Math.max(240, Math.round(node.clientWidth));
    const x = (at) =>
      GUTTER.left +
      ((Math.max(at, view.from) - view.from) / (view.to - view.from)) * (width - GUTTER.left - GUTTER.right);
    root.setAttribute('viewBox', `0 0 ${width} ${height}`);
    root.setAttribute('height', height);
    root.setAttribute('aria-label', `Load zone: now ${current ?? 'not known'}.`);
    root.replaceChildren();
    for (const { zone, from, to } of stretches.filter((stretch) => stretch.to > view.from)) {
      const level = ZONE_LEVEL[zone] ?? 1;
      const px = x(from);
      const wide = Math.max(1.5, x(to) - px);
      const tall = level * 8;
      root.append(
        svg('rect', {
          x: px.toFixed(1),
          y: 26 - tall,
          width: wide.toFixed(1),
          height: tall,
          class: `zone zone-${zone}`,
        }),
      );
      if (wide > 62) root.append(svg('text', { x: px + 6, y: 41, class: 'tick', text: zone }));
    }
    root.append(svg('line', { x1: GUTTER.left, x2: width - GUTTER.right, y1: 26.5, y2: 26.5, class: 'grid strong' }));
    if (view.hover !== null) {
      const px = x(view.hover).toFixed(1);
      root.append(svg('line', { x1: px, x2: px, y1: 0, y2: 27, class: 'reading' }));
    }
  }
  return { node, update };
}
