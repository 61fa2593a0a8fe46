import type { QuantileFigure } from './summary-types.ts';

export const DASH = '–';

const orDash =
  (format: (value: number) => string) =>
  (value: number | null | undefined): string =>
    value === null || value === undefined || !Number.isFinite(value) ? DASH : format(value);

/** A length of time with three significant digits and a unit that suits it. */
export const asTime = orDash((value) => {
  const size = Math.abs(value);
  if (size >= 100) return `${Math.round(value)} s`;
  if (size >= 1) return `${value.toPrecision(3)} s`;
  if (size === 0) return '0 ms';
  const milliseconds = value * 1000;
  if (Math.abs(milliseconds) >= 100) return `${Math.round(milliseconds)} ms`;
  return `${milliseconds.toFixed(Math.abs(milliseconds) >= 10 ? 1 : 2)} ms`;
});

/** Three significant digits, whole numbers from 100 on with their thousands apart. */
export const asNumber = orDash((value) => {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value))
    return Math.round(value)
      .toString()
      .replace(/\B(?=(\d{3})+$)/g, '\u202F');
  return String(Number(value.toPrecision(3)));
});

export const asPercent = orDash(
  (ratio) => `${(ratio * 100).toFixed(Math.abs(ratio) >= 0.0995 || ratio === 0 ? 0 : 1)} %`,
);

/** A change, with its sign. */
export const asChange = orDash((ratio) => {
  const text = Math.abs(ratio * 100).toFixed(1);
  const sign = text === '0.0' ? '±' : ratio > 0 ? '+' : '−';
  return `${sign}${text} %`;
});

/** A quantile, or why there is none. */
function quantileText(figure: QuantileFigure): string {
  if (!figure.enough) return `${DASH} (n=${figure.samples})`;
  if (figure.unbounded) return 'failed';
  return asTime(figure.seconds);
}

/** The interval beside it. */
const intervalText = (figure: QuantileFigure): string =>
  figure.seconds === null || figure.lowSeconds === null
    ? ''
    : ` [${asTime(figure.lowSeconds)} to ${figure.highSeconds === null ? 'unbounded' : asTime(figure.highSeconds)}]`;

export const withInterval = (figure: QuantileFigure): string => quantileText(figure) + intervalText(figure);

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${asNumber(count)} ${count === 1 ? one : many}`;
