/** Marks of emphasis for a terminal. Each is only an addition: the words say the same without it. */
export interface Style {
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  strong(text: string): string;
  faint(text: string): string;
}

const code =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;

const same = (text: string): string => text;

/** Colours for a terminal, or nothing at all. */
export const createStyle = (colour: boolean): Style =>
  colour
    ? { good: code(32, 39), bad: code(31, 39), warn: code(33, 39), strong: code(1, 22), faint: code(2, 22) }
    : { good: same, bad: same, warn: same, strong: same, faint: same };

/** A length of time for people, with three significant digits: `83.1 ms`, `1.25 s`. */
export function humanSeconds(seconds: number): string {
  if (seconds >= 100) return `${Math.round(seconds)} s`;
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  const milliseconds = seconds * 1000;
  if (milliseconds >= 100) return `${Math.round(milliseconds)} ms`;
  return milliseconds >= 10 ? `${milliseconds.toFixed(1)} ms` : `${milliseconds.toFixed(2)} ms`;
}

/** A whole number with its thousands apart. */
export const humanCount = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
