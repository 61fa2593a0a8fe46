export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** After the family's name: `_total`, `_bucket` and the like. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replace(/"/g, '\\"');

/**
 * A number as the Python client writes it: whole ones with `.0`, and those of seven digits and more before the point as
 * a mantissa with a two-digit exponent.
 */
export function pythonFloat(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  const plain = Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value);
  const point = plain.indexOf('.');
  if (!(value > 0) || point <= 6) return plain;
  const digits = `${plain.slice(0, point)}${plain.slice(point + 1)}`.replace(/0+$/, '');
  return `${digits[0]}.${digits.slice(1) || '0'}e+${String(point - 1).padStart(2, '0')}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeValue(labels[name] ?? '')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** One family: HELP, TYPE, samples. Counters carry `_total` in all three, as the Python client's text format has it. */
function renderFamily(family: Family): string {
  const name = family.type === 'counter' ? `${family.name}_total` : family.name;
  const lines = family.samples.map(
    (sample) => `${name}${sample.suffix ?? ''}${labelText(sample.labels)} ${pythonFloat(sample.value)}`,
  );
  return [`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${family.type}`, ...lines, ''].join('\n');
}

export function renderPage(families: readonly Family[]): string {
  return families.map(renderFamily).join('');
}
