/** One sample of a metrics page. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite: the page said so. */
  readonly value: number;
  /** Milliseconds since 1970 where the page stamps its samples; null as a rule. */
  readonly timestampMs: number | null;
}

/** `openmetrics` stamps samples in fractional seconds, `text` in whole milliseconds. */
export type ExpositionFormat = 'text' | 'openmetrics';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const EQUALS = 0x3d;
const COMMA = 0x2c;
const SPACE = 0x20;
const TAB = 0x09;
const HASH = 0x23;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NOT_FINITE = /^([+-]?)(inf|infinity|nan)$/i;
const WHOLE = /^-?\d+$/;
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const ESCAPE = /\\(.)/gs;

/** Reads a sample value. Hexadecimal and digit separators, which some parsers let pass, are not in the format: null. */
export function parseValue(token: string): number | null {
  if (NUMBER.test(token)) return Number(token);
  const match = NOT_FINITE.exec(token);
  if (match === null) return null;
  if (match[2]?.toLowerCase() === 'nan') return Number.NaN;
  return match[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function parseTimestamp(token: string, format: ExpositionFormat): number | null {
  if (format === 'text') return WHOLE.test(token) ? Number(token) : null;
  return NUMBER.test(token) ? Number(token) * 1000 : null;
}

// `\n`, `\"` and `\\` are the format's escapes; anything else keeps its backslash, as Prometheus does.
const unescaped = (text: string): string =>
  text.replace(ESCAPE, (whole, character: string) => {
    if (character === 'n') return '\n';
    return character === '"' || character === '\\' ? character : whole;
  });

const isBlank = (code: number): boolean => code === SPACE || code === TAB;

const skipBlanks = (line: string, from: number): number => {
  let at = from;
  while (isBlank(line.charCodeAt(at))) at += 1;
  return at;
};

interface Piece {
  readonly text: string;
  readonly end: number;
}

/** The quoted string that opens at `start`; `end` is behind its closing quote. */
function quoted(line: string, start: number): Piece | null {
  const first = line.indexOf('"', start + 1);
  if (first < 0) return null;
  const raw = line.slice(start + 1, first);
  // Most values have nothing to unescape, and then the first quote closes.
  return raw.includes('\\') ? quotedWithEscapes(line, start) : { text: raw, end: first + 1 };
}

function quotedWithEscapes(line: string, start: number): Piece | null {
  for (let at = start + 1; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return { text: unescaped(line.slice(start + 1, at)), end: at + 1 };
  }
  return null;
}

const isWordCode = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;

function bareLabelName(line: string, start: number): Piece | null {
  let end = start;
  while (isWordCode(line.charCodeAt(end))) end += 1;
  const first = line.charCodeAt(start);
  const startsWithDigit = first >= 0x30 && first <= 0x39;
  return end === start || startsWithDigit ? null : { text: line.slice(start, end), end };
}

interface LabelBlock {
  /** A quoted string without a value: the name of a metric whose name is not a plain word. */
  readonly name: string | null;
  readonly labels: Map<string, string>;
  readonly end: number;
}

/** Reads `{...}` from its opening brace. A tokenizer: braces, commas and quotes inside values mean nothing. */
function labelBlock(line: string, open: number): LabelBlock | null {
  const labels = new Map<string, string>();
  let name: string | null = null;
  let at = skipBlanks(line, open + 1);
  while (line.charCodeAt(at) !== CLOSE) {
    const isQuoted = line.charCodeAt(at) === QUOTE;
    const key = isQuoted ? quoted(line, at) : bareLabelName(line, at);
    if (key === null) return null;
    at = skipBlanks(line, key.end);
    if (line.charCodeAt(at) === EQUALS) {
      at = skipBlanks(line, at + 1);
      if (line.charCodeAt(at) !== QUOTE) return null;
      const value = quoted(line, at);
      if (value === null || labels.has(key.text)) return null;
      labels.set(key.text, value.text);
      at = skipBlanks(line, value.end);
    } else {
      if (!isQuoted || name !== null || labels.size > 0) return null;
      name = key.text;
    }
    if (line.charCodeAt(at) === COMMA) at = skipBlanks(line, at + 1);
    else if (line.charCodeAt(at) !== CLOSE) return null;
  }
  return { name, labels, end: at + 1 };
}

function tokenEnd(line: string, start: number): number {
  let end = start;
  while (end < line.length && !isBlank(line.charCodeAt(end))) end += 1;
  return end;
}

/** End of the plain metric name at the start of `line`: the first brace or blank, or the end of the line. */
export function nameEnd(line: string, start: number): number {
  let end = start;
  for (; end < line.length; end += 1) {
    const code = line.charCodeAt(end);
    if (code === OPEN || code === SPACE || code === TAB) break;
  }
  return end;
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * Reads one sample line: name, labels, value, and an optional timestamp. An OpenMetrics exemplar behind them is passed
 * over in either format, because engines put it into both. Null when the line is malformed.
 */
export function parseSampleLine(line: string, format: ExpositionFormat): Sample | null {
  const start = skipBlanks(line, 0);
  const plainEnd = nameEnd(line, start);
  let name = line.slice(start, plainEnd);
  let labels: ReadonlyMap<string, string> = NO_LABELS;
  let at = skipBlanks(line, plainEnd);
  if (line.charCodeAt(at) === OPEN) {
    const block = labelBlock(line, at);
    if (block === null || (block.name !== null) === name.length > 0) return null;
    name = block.name ?? name;
    labels = block.labels;
    at = skipBlanks(line, block.end);
    if (block.name === '') return null;
  }
  if (name.length === 0 || (plainEnd > start && !METRIC_NAME.test(name))) return null;

  const valueEnd = tokenEnd(line, at);
  const value = parseValue(line.slice(at, valueEnd));
  if (value === null) return null;
  at = skipBlanks(line, valueEnd);
  if (at >= line.length || line.charCodeAt(at) === HASH) return { name, labels, value, timestampMs: null };

  const stampEnd = tokenEnd(line, at);
  const timestampMs = parseTimestamp(line.slice(at, stampEnd), format);
  at = skipBlanks(line, stampEnd);
  const restIsExemplar = at >= line.length || line.charCodeAt(at) === HASH;
  return timestampMs === null || !restIsExemplar ? null : { name, labels, value, timestampMs };
}
