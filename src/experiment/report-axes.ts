import { element, fragment, type Markup } from './report-markup.ts';
import type { Scale } from './report-scale.ts';

/** Where a chart draws, in the units of its viewBox. */
export interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const WIDTH = 960;

/** The figure as a whole; title and description are what a screen reader says of it. */
export function svg(height: number, label: string, ...children: readonly Markup[]): Markup {
  return element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': label, xmlns: 'http://www.w3.org/2000/svg' },
    ...children,
  );
}

export const words = (
  x: number,
  y: number,
  text: string,
  options: { readonly anchor?: 'start' | 'middle' | 'end'; readonly kind?: string; readonly turn?: number } = {},
): Markup =>
  element(
    'text',
    {
      x,
      y,
      class: options.kind ?? 'tick',
      'text-anchor': options.anchor ?? 'start',
      transform: options.turn === undefined ? null : `rotate(${options.turn} ${x} ${y})`,
    },
    text,
  );

export const line = (x1: number, y1: number, x2: number, y2: number, kind: string): Markup =>
  element('line', { x1, y1, x2, y2, class: kind });

/** Horizontal grid with labels at the left. */
export function yAxis(area: Area, scale: Scale, format: (value: number) => string): Markup {
  return fragment(
    ...scale.ticks.flatMap((tick) => [
      line(area.left, scale.at(tick), area.right, scale.at(tick), 'grid'),
      words(area.left - 8, scale.at(tick) + 4, format(tick), { anchor: 'end' }),
    ]),
  );
}

/** Base line with ticks; labels below it when a format is given. */
export function xAxis(area: Area, scale: Scale, format: ((value: number) => string) | null): Markup {
  return fragment(
    line(area.left, area.bottom, area.right, area.bottom, 'axis'),
    ...scale.ticks.flatMap((tick) => [
      line(scale.at(tick), area.bottom, scale.at(tick), area.bottom + 5, 'axis'),
      format === null ? null : words(scale.at(tick), area.bottom + 19, format(tick), { anchor: 'middle' }),
    ]),
  );
}

export type Shape = 'circle' | 'square' | 'triangle' | 'diamond';
export const SHAPES: readonly Shape[] = ['circle', 'square', 'triangle', 'diamond'];

const SHAPE_PATHS: Readonly<Record<Exclude<Shape, 'circle'>, string>> = {
  square: 'M-4.5-4.5h9v9h-9z',
  triangle: 'M0-5.6L5.4 4.4H-5.4z',
  diamond: 'M0-6L6 0 0 6-6 0z',
};

/** A mark of a series: its shape says which one, also in black and white. */
export function marker(shape: Shape, x: number, y: number, kind: string, tip: string): Markup {
  const title = element('title', {}, tip);
  return shape === 'circle'
    ? element('circle', { cx: x, cy: y, r: 5, class: kind }, title)
    : element('path', { d: SHAPE_PATHS[shape], transform: `translate(${x} ${y})`, class: kind }, title);
}

/** A line through points in pixels; a null breaks it. */
export function polyline(points: readonly (readonly [number, number] | null)[], kind: string): Markup {
  let pen = 'M';
  let d = '';
  for (const point of points) {
    if (point === null) {
      pen = 'M';
      continue;
    }
    d += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = 'L';
  }
  return element('path', { d, class: kind });
}

/** Entries in a row from `x`, each mark beside its words. */
export function legend(
  x: number,
  y: number,
  entries: readonly { readonly label: string; readonly mark: (x: number, y: number) => Markup }[],
): Markup {
  let at = x;
  return fragment(
    ...entries.map(({ label, mark }) => {
      const entry = fragment(mark(at + 10, y), words(at + 26, y + 4, label, { kind: 'legend' }));
      at += 46 + label.length * 6.7;
      return entry;
    }),
  );
}
