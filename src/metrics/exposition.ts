import type { FamilyDefinition } from './definition.ts';

/** A sample of a histogram bucket or a counter that stands for the others; printed in OpenMetrics only. */
export interface RowExemplar {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly unixSeconds: number | null;
}

/** One sample of a family that is not kept here but read from elsewhere. */
export interface Row {
  /** Appended to the family's name: "_bucket", "_sum", "_count" or nothing. */
  readonly suffix: string;
  /** Rendered label pairs without braces. */
  readonly labels: string;
  readonly value: number;
}

export type ExpositionFormat = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escapeLabel = (value: string): string =>
  value.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);

/** Label pairs as they stand between the braces. An empty value is left out: to Prometheus it is the same as no label. */
export function renderLabels(pairs: Readonly<Record<string, string>>): string {
  let text = '';
  for (const [name, value] of Object.entries(pairs)) {
    if (value === '') continue;
    text += `${text === '' ? '' : ','}${name}="${escapeLabel(value)}"`;
  }
  return text;
}

/** Joins two pieces of rendered labels, either of which may be empty. */
export const joinLabels = (first: string, second: string): string =>
  first === '' || second === '' ? first + second : `${first},${second}`;

/** A sample's value: what Go's ParseFloat reads, which Prometheus uses. */
export function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/**
 * A bucket's bound in the one form that Prometheus 3 gives it at ingest (always a float: "1.0", "0.25", "1e-05",
 * "1e+06"), so that the same rule matches on 2.x, which keeps what the page says, and on 3.x (docs/adr).
 */
export function formatBound(bound: number): string {
  if (bound === Number.POSITIVE_INFINITY) return '+Inf';
  const [mantissa = '', exponentText = '0'] = bound.toExponential().split('e');
  const exponent = Number(exponentText);
  // Go's shortest 'g' form, which Prometheus uses, turns to exponents outside this range.
  if (exponent < -4 || exponent >= 6) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const plain = String(bound);
  return plain.includes('.') ? plain : `${plain}.0`;
}

const withoutSuffix = (name: string, suffix: string): string =>
  name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;

/** Name and type of the family in its HELP and TYPE lines. */
function heading(family: FamilyDefinition, format: ExpositionFormat): readonly [name: string, type: string] {
  if (format === 'text') return [family.name, family.type === 'info' ? 'gauge' : family.type];
  if (family.type === 'counter') return [withoutSuffix(family.name, '_total'), 'counter'];
  if (family.type === 'info') return [withoutSuffix(family.name, '_info'), 'info'];
  return [family.name, family.type];
}

/** HELP and TYPE of a family. */
export function renderHeading(family: FamilyDefinition, format: ExpositionFormat): string {
  const [name, type] = heading(family, format);
  const help = format === 'text' ? family.help.replace(/[\\\n]/g, (c) => ESCAPES[c] ?? c) : escapeLabel(family.help);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** An exemplar as it follows a value. */
export function renderExemplar(exemplar: RowExemplar): string {
  const time = exemplar.unixSeconds === null ? '' : ` ${exemplar.unixSeconds}`;
  return ` # {${renderLabels(exemplar.labels)}} ${formatValue(exemplar.value)}${time}`;
}

/** Lines of the page for rows of one family. */
export function renderRows(family: FamilyDefinition, rows: readonly Row[]): string {
  let text = '';
  for (const row of rows) {
    const labels = row.labels === '' ? '' : `{${row.labels}}`;
    text += `${family.name}${row.suffix}${labels} ${formatValue(row.value)}\n`;
  }
  return text;
}
