// Where values go on a chart. Nothing here knows the document.

export const GUTTER = { left: 54, right: 12 };
export const TOP = 10;

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
export function scaleFor(spec, values, height) {
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

export function timeTicks(from, to, width) {
  const every = [30, 60, 120, 180, 300, 600].find((step) => ((to - from) / step) * 62 < width) ?? 900;
  const ticks = [];
  for (let tick = Math.ceil(from / every) * every; tick < to; tick += every) ticks.push(tick);
  return ticks;
}

export function linePath(line, x, y, step) {
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
export function areaPath(line, x, y, bottom) {
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

/** The newest value at or before `at`, if it is not too far away. */
export function valueAt(line, at, reach) {
  let found = null;
  for (const [when, value] of line) {
    if (when > at + reach / 8) break;
    if (value !== null) found = [when, value];
  }
  return found !== null && at - found[0] <= reach ? found[1] : null;
}

/** The part of a line that is not older than `from`. */
export const visible = (line, from) => {
  const first = line.findIndex(([at]) => at >= from);
  return first < 0 ? [] : line.slice(first);
};
