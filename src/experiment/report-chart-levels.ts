import {
  type Area,
  legend,
  line,
  marker,
  polyline,
  SHAPES,
  type Shape,
  svg,
  WIDTH,
  words,
  xAxis,
  yAxis,
} from './report-axes.ts';
import { asNumber, asTime } from './report-format.ts';
import { element, fragment, type Markup } from './report-markup.ts';
import { latencyScale, linearScale, type Scale } from './report-scale.ts';

/** A value with its interval; `null` bounds are not drawn. */
export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface EstimateSeries {
  readonly name: string;
  /** One for each category, in the same order. */
  readonly estimates: readonly Estimate[];
}

const KINDS = ['one', 'two', 'three', 'four'] as const;
const kindOf = (index: number): string => KINDS[index % KINDS.length] ?? 'one';
const shapeOf = (index: number): Shape => SHAPES[index % SHAPES.length] ?? 'circle';

const seriesLegend = (names: readonly string[], x: number, y: number): Markup =>
  legend(
    x,
    y,
    names.map((name, index) => ({
      label: name,
      mark: (at, top) => marker(shapeOf(index), at, top, `mark ${kindOf(index)}`, name),
    })),
  );

function whisker(x: number, estimate: Estimate, y: Scale, top: number, kind: string): Markup {
  if (estimate.value === null) return fragment();
  const low = estimate.low === null ? null : y.at(estimate.low);
  const high = estimate.high === null || !Number.isFinite(estimate.high) ? null : y.at(estimate.high);
  if (low === null) return fragment();
  return fragment(
    line(x, low, x, high ?? top, `whisker ${kind}`),
    line(x - 4, low, x + 4, low, `whisker ${kind}`),
    // Without an upper bound the line ends in an arrow: it goes on.
    high === null
      ? element('path', { d: `M${x - 4} ${top + 7}L${x} ${top}L${x + 4} ${top + 7}`, class: `whisker ${kind}` })
      : line(x - 4, high, x + 4, high, `whisker ${kind}`),
  );
}

/** Quantiles side by side at each level, every one with its interval. */
export function estimateChart(
  label: string,
  axis: string,
  categories: readonly string[],
  series: readonly EstimateSeries[],
  format: (value: number | null) => string = asTime,
  marked: string | null = null,
): Markup {
  const area: Area = { left: 78, right: WIDTH - 14, top: 34, bottom: 290 };
  const all = series.flatMap((one) => one.estimates.flatMap((e) => [e.value, e.low, e.high]));
  const values = all.filter((value): value is number => value !== null && Number.isFinite(value));
  const y = latencyScale(values, area.bottom, area.top);
  const band = (area.right - area.left) / Math.max(1, categories.length);
  const centre = (index: number): number => area.left + band * (index + 0.5);
  const step = Math.min(26, (band * 0.7) / series.length);
  return svg(
    342,
    label,
    seriesLegend(
      series.map((one) => one.name),
      area.left,
      14,
    ),
    yAxis(area, y, format),
    line(area.left, area.bottom, area.right, area.bottom, 'axis'),
    ...categories.flatMap((category, index) => {
      const isKnee = category === marked;
      // Parts of a name, one below the other: several switches would not fit beside each other.
      return category.split(', ').map((part, row) =>
        words(centre(index), area.bottom + 19 + 15 * row, isKnee ? `${part} ◆ knee` : part, {
          anchor: 'middle',
          kind: isKnee ? 'tick kneeText' : 'tick',
        }),
      );
    }),
    words((area.left + area.right) / 2, area.bottom + 43, axis, { anchor: 'middle' }),
    ...series.flatMap((one, at) =>
      one.estimates.map((estimate, index) => {
        if (estimate.value === null) return fragment();
        const x = centre(index) + (at - (series.length - 1) / 2) * step;
        const tip = `${one.name} at ${categories[index] ?? ''}: ${format(estimate.value)}`;
        return fragment(
          whisker(x, estimate, y, area.top, kindOf(at)),
          marker(shapeOf(at), x, y.at(estimate.value), `mark ${kindOf(at)}`, tip),
        );
      }),
    ),
  );
}

export interface CurvePoint {
  readonly label: string;
  readonly throughput: number;
  readonly latencySeconds: number | null;
  readonly knee: boolean;
  readonly preempted: boolean;
}

export interface Curve {
  readonly name: string;
  readonly points: readonly CurvePoint[];
}

function kneeMark(x: number, y: number, text: string): Markup {
  return fragment(
    element('circle', { cx: x, cy: y, r: 12, class: 'knee' }),
    words(x - 14, y - 15, text, { anchor: 'end', kind: 'kneeText halo' }),
  );
}

function drawCurve(curve: Curve, index: number, x: Scale, y: Scale, many: boolean): Markup {
  const shown = curve.points.filter((point) => point.latencySeconds !== null);
  const place = (point: CurvePoint): readonly [number, number] => [
    x.at(point.throughput),
    y.at(point.latencySeconds ?? 0),
  ];
  return fragment(
    polyline(shown.map(place), `line ${kindOf(index)}${index % 2 === 1 ? ' dashed' : ''}`),
    ...shown.flatMap((point) => {
      const [px, py] = place(point);
      const tip = `${curve.name} ${point.label}: ${asNumber(point.throughput)} tokens/s, ${asTime(point.latencySeconds)}`;
      return [
        marker(shapeOf(index), px, py, `mark ${kindOf(index)}${point.preempted ? ' hollow' : ''}`, tip),
        words(px + (point.knee ? 15 : 9), py + (point.knee ? 18 : 14), point.label, { kind: 'note halo' }),
        point.knee ? kneeMark(px, py, many ? `knee (${curve.name})` : 'knee') : null,
      ];
    }),
  );
}

/** Throughput against latency; each point is a level, and an engine that preempted there makes it hollow. */
export function curveChart(label: string, latencyName: string, curves: readonly Curve[]): Markup {
  const area: Area = { left: 78, right: WIDTH - 40, top: 38, bottom: 360 };
  const points = curves.flatMap((curve) => curve.points);
  const latencies = points.flatMap((point) => (point.latencySeconds === null ? [] : [point.latencySeconds]));
  const x = linearScale(0, Math.max(...points.map((point) => point.throughput), 0) * 1.04, area.left, area.right, 8);
  const y = latencyScale(latencies, area.bottom, area.top);
  return svg(
    412,
    label,
    seriesLegend(
      curves.map((curve) => curve.name),
      area.left,
      14,
    ),
    words(area.right, 18, `${latencyName}, upwards; ◯ knee; hollow: preemptions`, { anchor: 'end', kind: 'legend' }),
    yAxis(area, y, asTime),
    xAxis(area, x, asNumber),
    words((area.left + area.right) / 2, area.bottom + 43, 'output tokens a second', { anchor: 'middle' }),
    ...curves.map((curve, index) => drawCurve(curve, index, x, y, curves.length > 1)),
  );
}

export interface EffectBar {
  readonly name: string;
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Effects with their intervals around 0: what touches the middle line is within the noise. */
export function effectChart(label: string, bars: readonly EffectBar[], format: (value: number) => string): Markup {
  const row = 34;
  const area: Area = { left: 300, right: WIDTH - 24, top: 14, bottom: 14 + row * bars.length };
  const reach = Math.max(0.01, ...bars.flatMap((bar) => [bar.ratio, bar.low ?? 0, bar.high ?? 0].map(Math.abs)));
  const half = linearScale(0, reach, 0, 1, 3).high;
  const x = linearScale(-half, half, area.left, area.right, 6);
  return svg(
    area.bottom + 34,
    label,
    ...x.ticks.map((tick) => line(x.at(tick), area.top, x.at(tick), area.bottom, 'grid')),
    line(x.at(0), area.top, x.at(0), area.bottom, 'axis'),
    xAxis(area, x, format),
    ...bars.flatMap((bar, index) => {
      const y = area.top + row * (index + 0.5);
      return [
        words(area.left - 12, y + 4, bar.name, { anchor: 'end', kind: 'legend' }),
        bar.low === null || bar.high === null
          ? fragment()
          : fragment(
              line(x.at(bar.low), y, x.at(bar.high), y, 'whisker one'),
              line(x.at(bar.low), y - 5, x.at(bar.low), y + 5, 'whisker one'),
              line(x.at(bar.high), y - 5, x.at(bar.high), y + 5, 'whisker one'),
            ),
        marker('diamond', x.at(bar.ratio), y, 'mark one', `${bar.name}: ${format(bar.ratio)}`),
        words(x.at(bar.ratio), y - 9, format(bar.ratio), { anchor: 'middle', kind: 'note halo' }),
      ];
    }),
  );
}
