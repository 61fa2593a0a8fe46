/** Maps values of the data to pixels. */
export interface Scale {
  readonly ticks: readonly number[];
  readonly low: number;
  readonly high: number;
  at(value: number): number;
}

/** A step of 1, 2 or 5 times a power of ten that gives about `count` steps. */
function niceStep(span: number, count: number): number {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= raw * 0.999) ?? 10;
  return factor * power;
}

// 0.1 + 0.2 would be labelled 0.30000000000000004.
const clean = (value: number): number => Number(value.toPrecision(12));

/** `from` and `to` are the pixels of the two ends; the high end is rounded up to a tick. */
export function linearScale(low: number, high: number, from: number, to: number, count = 4): Scale {
  const span = high > low ? high - low : 1;
  const step = niceStep(span, count);
  const top = clean(low + Math.ceil((span / step) * 0.9999) * step);
  const ticks = Array.from({ length: Math.round((top - low) / step) + 1 }, (_, index) => clean(low + index * step));
  return { ticks, low, high: top, at: (value) => from + ((value - low) / (top - low)) * (to - from) };
}

/** An axis whose end must stay where the data ends, such as time. */
export function exactScale(low: number, high: number, from: number, to: number, count = 8): Scale {
  const span = high > low ? high - low : 1;
  const step = niceStep(span, count);
  const first = Math.ceil(low / step) * step;
  const ticks: number[] = [];
  for (let tick = first; tick <= low + span + step * 1e-6; tick += step) ticks.push(clean(tick));
  return { ticks, low, high: low + span, at: (value) => from + ((value - low) / span) * (to - from) };
}

/** For values that spread over more than a decade. All values must be positive. */
export function logScale(low: number, high: number, from: number, to: number): Scale {
  const bottom = Math.log10(low) - 0.15;
  const top = Math.max(Math.log10(high) + 0.08, bottom + 0.2);
  const ticks: number[] = [];
  for (let power = Math.floor(bottom); power <= top; power += 1) {
    for (const factor of [1, 2, 5]) {
      const tick = clean(factor * 10 ** power);
      if (Math.log10(tick) >= bottom && Math.log10(tick) <= top) ticks.push(tick);
    }
  }
  const shown = ticks.length > 8 ? ticks.filter((tick) => /^1|0\.0*1$/.test(String(tick))) : ticks;
  return {
    ticks: shown,
    low: 10 ** bottom,
    high: 10 ** top,
    at: (value) => from + ((Math.log10(Math.max(value, 10 ** bottom)) - bottom) / (top - bottom)) * (to - from),
  };
}

/** Linear from 0, or logarithmic where the values spread so far that the small ones would be flat on the axis. */
export function latencyScale(values: readonly number[], from: number, to: number): Scale {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const low = Math.min(...positive);
  const high = Math.max(...positive);
  if (positive.length === 0) return linearScale(0, 1, from, to);
  return high / low > 12 ? logScale(low, high, from, to) : linearScale(0, high, from, to);
}
