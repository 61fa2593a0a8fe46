import { type Area, line, svg, WIDTH, words, xAxis, yAxis } from './report-axes.ts';
import { element, fragment, type Markup } from './report-markup.ts';
import { exactScale, linearScale, type Scale } from './report-scale.ts';

/** One of several charts over the same time. */
export interface Panel {
  readonly title: string;
  readonly height: number;
  readonly y: (from: number, to: number) => Scale;
  readonly format: (value: number) => string;
  draw(x: Scale, y: Scale, area: Area): readonly Markup[];
}

export interface TimeSpan {
  readonly from: number;
  readonly to: number;
  /** The part that the figures are taken from. */
  readonly figuresFrom: number;
  readonly figuresTo: number;
}

const LEFT = 74;
const RIGHT = WIDTH - 14;
const TITLE = 26;
const GAP = 16;

/** The trimmed ends are greyed and said so, in every panel. */
function trimmed(span: TimeSpan, x: Scale, area: Area, named: boolean): Markup {
  const sides = [
    [span.from, span.figuresFrom],
    [span.figuresTo, span.to],
  ] as const;
  return fragment(
    ...sides.flatMap(([from, to]) => {
      const [left, right] = [x.at(from), x.at(to)];
      if (!(right - left > 1)) return [];
      const shade = element('rect', {
        x: left,
        y: area.top,
        width: right - left,
        height: area.bottom - area.top,
        class: 'trimmed',
      });
      const edge = line(to === span.to ? left : right, area.top, to === span.to ? left : right, area.bottom, 'edge');
      const name =
        named && right - left > 44
          ? words((left + right) / 2, area.top + 13, 'trimmed', { anchor: 'middle', kind: 'note' })
          : null;
      return [shade, edge, name];
    }),
  );
}

/** Panels one below the other on one axis of time, in seconds from the start of the window. */
export function timePanels(label: string, span: TimeSpan, panels: readonly Panel[]): Markup {
  const x = exactScale(0, span.to - span.from, LEFT, RIGHT, 12);
  const shifted: Scale = { ...x, at: (value) => x.at(value - span.from) };
  const parts: Markup[] = [];
  let top = 0;
  for (const [index, panel] of panels.entries()) {
    const last = index === panels.length - 1;
    const area: Area = { left: LEFT, right: RIGHT, top: top + TITLE, bottom: top + TITLE + panel.height };
    const y = panel.y(area.bottom, area.top);
    parts.push(
      words(LEFT, top + 17, panel.title, { kind: 'title' }),
      trimmed(span, shifted, area, index === 0),
      yAxis(area, y, panel.format),
      ...panel.draw(shifted, y, area),
      xAxis(area, x, last ? (value) => `${value}` : null),
    );
    top = area.bottom + GAP;
  }
  parts.push(words((LEFT + RIGHT) / 2, top + 22, 'seconds from the start of the window', { anchor: 'middle' }));
  return svg(top + 32, label, ...parts);
}

/** From 0 to at least `high`; an empty panel still has an axis. */
export const fromZero =
  (high: number, count = 3) =>
  (from: number, to: number): Scale =>
    linearScale(0, high > 0 ? high : 1, from, to, count);
