import type { ProbeOutcome, TimelineEntry } from '../probe/outcome.ts';
import { humanSeconds } from './style.ts';

/** The tokens of a probe along its time, drawn to scale. */
export interface Strip {
  /** Letters over the columns in which something happened. */
  readonly marks: string;
  /** One character a column. */
  readonly tokens: string;
  readonly scale: string;
  readonly legend: string;
}

// A gap is worth pointing out when it is this many times the usual one.
const STALL_FACTOR = 3;

interface Mark {
  readonly at: number;
  readonly letter: string;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The longest stretch between two token chunks, if it stands out. */
function stall(tokens: readonly TimelineEntry[]): { readonly from: number; readonly to: number } | null {
  let longest = { from: 0, to: 0 };
  const gaps: number[] = [];
  for (const [index, { atSeconds: to }] of tokens.entries()) {
    const from = tokens[index - 1]?.atSeconds;
    if (from === undefined) continue;
    gaps.push(to - from);
    if (to - from > longest.to - longest.from) longest = { from, to };
  }
  return longest.to - longest.from > STALL_FACTOR * median(gaps) ? longest : null;
}

function drawTokens(outcome: ProbeOutcome, span: number, width: number): string {
  const tokens = outcome.timeline.filter((entry) => entry.kind === 'token');
  const column = (at: number): number => Math.min(width - 1, Math.max(0, Math.floor((at / span) * width)));
  const counts = new Array<number>(width).fill(0);
  for (const { atSeconds } of tokens) counts[column(atSeconds)] = (counts[column(atSeconds)] ?? 0) + 1;
  const first = tokens[0]?.atSeconds ?? Number.POSITIVE_INFINITY;
  const gap = stall(tokens);
  return counts
    .map((count, index) => {
      if (count > 0) return count === 1 ? '|' : count < 10 ? String(count) : '+';
      const at = ((index + 0.5) / width) * span;
      if (at < first) return '.';
      return gap !== null && at > gap.from && at < gap.to ? '~' : ' ';
    })
    .join('')
    .trimEnd();
}

function drawMarks(outcome: ProbeOutcome, span: number, width: number): string {
  const terminal = outcome.timeline.find((entry) => entry.kind === 'terminal' || entry.kind === 'error');
  const marks: readonly (Mark | null)[] = [
    outcome.phases.headers === null ? null : { at: outcome.phases.headers, letter: 'H' },
    outcome.ttfeSeconds === null ? null : { at: outcome.ttfeSeconds, letter: 'E' },
    // Later ones win a shared column: the first token is what people look for.
    terminal === undefined ? null : { at: terminal.atSeconds, letter: terminal.kind === 'error' ? 'X' : 'D' },
    outcome.ttfcSeconds === null || outcome.ttfcSeconds === outcome.ttftSeconds
      ? null
      : { at: outcome.ttfcSeconds, letter: 'C' },
    outcome.ttftSeconds === null ? null : { at: outcome.ttftSeconds, letter: 'T' },
  ];
  const columns = new Array<string>(width).fill(' ');
  for (const mark of marks) {
    if (mark !== null) columns[Math.min(width - 1, Math.max(0, Math.floor((mark.at / span) * width)))] = mark.letter;
  }
  return columns.join('').trimEnd();
}

/** Explains only what is drawn. */
function legendOf(marks: string, tokens: string): string {
  const names: readonly (readonly [string, boolean, string])[] = [
    ['H', marks.includes('H'), 'headers'],
    ['E', marks.includes('E'), 'first event'],
    ['T', marks.includes('T'), 'first token'],
    ['C', marks.includes('C'), 'first visible text'],
    ['D', marks.includes('D'), 'done'],
    ['X', marks.includes('X'), 'error'],
    ['.', tokens.includes('.'), 'waiting'],
    ['|', tokens.includes('|'), 'a token chunk'],
    ['2..9+', /[2-9+]/.test(tokens), 'several'],
    ['~', tokens.includes('~'), 'longest gap'],
  ];
  return names
    .filter(([, shown]) => shown)
    .map(([sign, , meaning]) => `${sign} ${meaning}`)
    .join('  ');
}

/** Draws a probe in `width` columns; null when nothing happened after the request. */
export function drawStrip(outcome: ProbeOutcome, width: number): Strip | null {
  const last = outcome.timeline.at(-1)?.atSeconds ?? 0;
  const span = Math.max(last, outcome.durationSeconds ?? 0);
  if (span <= 0) return null;
  const tokens = drawTokens(outcome, span, width);
  const marks = drawMarks(outcome, span, width);
  const end = humanSeconds(span);
  const middle = `a column is ${humanSeconds(span / width)}`;
  const room = Math.max(2, width - 1 - end.length);
  const scale = `0${middle.length + 4 <= room ? middle.padStart(Math.floor((room + middle.length) / 2)).padEnd(room) : ' '.repeat(room)}${end}`;
  return { marks, tokens, scale, legend: legendOf(marks, tokens) };
}
