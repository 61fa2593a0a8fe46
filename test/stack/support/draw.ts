import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Series } from './monitoring.ts';

/** The result of one panel, for a person to look at. */
export interface Drawing {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly { readonly name: string; readonly values: Series['values'] }[];
}

const WIDTH = 560;
const HEIGHT = 170;
const COLOURS = ['#2f6fb0', '#c0532b', '#3b8a4b', '#8a4fa3', '#a07f17', '#3a8f95', '#b0457a', '#666666'];

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function plot(drawing: Drawing): string {
  const points = drawing.series.flatMap((series) => series.values).filter(([, value]) => Number.isFinite(value));
  if (points.length === 0) return '<p class="empty">no data</p>';
  const times = points.map(([at]) => at);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const top = Math.max(...points.map(([, value]) => value), 1e-9);
  const x = (at: number): string => (((at - from) / Math.max(to - from, 1)) * (WIDTH - 60) + 50).toFixed(1);
  const y = (value: number): string => (HEIGHT - 20 - (value / top) * (HEIGHT - 40)).toFixed(1);
  const lines = drawing.series.map((series, index) => {
    const finite = series.values.filter(([, value]) => Number.isFinite(value));
    const colour = COLOURS[index % COLOURS.length];
    const path = finite.map(([at, value]) => `${x(at)},${y(value)}`).join(' ');
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${path}"/>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}"><text x="2" y="14">${top.toPrecision(3)} ${escaped(drawing.unit)}</text><line x1="50" x2="${WIDTH - 10}" y1="${HEIGHT - 20}" y2="${HEIGHT - 20}" stroke="#999"/>${lines.join('')}</svg>`;
}

function panel(drawing: Drawing): string {
  const legend = drawing.series
    .slice(0, 8)
    .map((series, index) => `<span style="color:${COLOURS[index % COLOURS.length]}">${escaped(series.name)}</span>`)
    .join(' ');
  return `<section><h2>${escaped(drawing.title)}</h2>${plot(drawing)}<p>${legend}</p></section>`;
}

/** One page a board, readable without a network. */
export function drawBoard(folder: string, title: string, drawings: readonly Drawing[]): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.html`);
  writeFileSync(
    path,
    `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title><style>body{font:13px sans-serif;margin:16px;display:grid;grid-template-columns:repeat(auto-fill,minmax(560px,1fr));gap:12px}h1{grid-column:1/-1}section{border:1px solid #ccc;padding:8px}h2{font-size:14px;margin:0}p{margin:2px 0}.empty{color:#a00}</style><h1>${escaped(title)}</h1>${drawings.map(panel).join('')}`,
  );
  return path;
}
