import type { ExpositionFormat } from './exposition.ts';

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameters = new Map(rest.map((part) => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']));
  const quality = Number(parameters.get('q') ?? '1');
  return { type, parameters, quality: Number.isFinite(quality) ? quality : 0 };
}

// "1.0.0" is what we speak; who names no version takes any.
const isOpenMetrics = ({ type, parameters }: MediaRange): boolean =>
  type === 'application/openmetrics-text' && ['1.0.0', undefined].includes(parameters.get('version'));

const isText = ({ type, parameters }: MediaRange): boolean =>
  type === '*/*' ||
  type === 'text/*' ||
  (type === 'text/plain' && ['0.0.4', undefined].includes(parameters.get('version')));

const best = (ranges: readonly MediaRange[], matches: (range: MediaRange) => boolean): number =>
  Math.max(0, ...ranges.filter(matches).map(({ quality }) => quality));

/** OpenMetrics where the scraper asks for it and does not prefer the text format; else text, whatever it accepts. */
export function negotiate(accept: string): ExpositionFormat {
  const ranges = accept.split(',').map(parseRange);
  const openMetrics = best(ranges, isOpenMetrics);
  return openMetrics > 0 && openMetrics >= best(ranges, isText) ? 'openmetrics' : 'text';
}
