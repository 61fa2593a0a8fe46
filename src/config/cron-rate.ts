const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface FieldRange {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const SECOND: FieldRange = { min: 0, max: 59 };
const MINUTE: FieldRange = { min: 0, max: 59 };
const HOUR: FieldRange = { min: 0, max: 23 };
const DAY: FieldRange = { min: 1, max: 31 };
const MONTH: FieldRange = { min: 1, max: 12, names: MONTHS };
// Sunday is 0 and 7.
const WEEKDAY: FieldRange = { min: 0, max: 7, names: WEEKDAYS };

function number(text: string, range: FieldRange): number | null {
  const named = range.names?.indexOf(text.toLowerCase().slice(0, 3)) ?? -1;
  const value = named >= 0 ? named + range.min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= range.min && value <= range.max ? value : null;
}

/** The values of one part of a field: `*`, `5`, `1-5`, each with an optional `/step`. */
function part(text: string, range: FieldRange): readonly number[] | null {
  const [span = '', stepText, more] = text.split('/');
  const step = stepText === undefined ? 1 : Number(stepText);
  if (more !== undefined || !Number.isInteger(step) || step < 1) return null;
  const [fromText = '', toText] = span === '*' ? [String(range.min), String(range.max)] : span.split('-');
  const from = number(fromText, range);
  const to = toText === undefined ? (stepText === undefined ? from : range.max) : number(toText, range);
  if (from === null || to === null || from > to) return null;
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function field(text: string, range: FieldRange): ReadonlySet<number> | null {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const found = part(item, range);
    if (found === null) return null;
    for (const value of found) values.add(value);
  }
  return values;
}

/** Fields of days may hold rules of the calendar (last day, nearest weekday): about one day of the field's round. */
const days = (text: string, range: FieldRange): ReadonlySet<number> =>
  field(text === '?' ? '*' : text, range) ?? new Set([range.min]);

/**
 * How often a cron expression is due on an average day, for the plan of tokens and the judgement of objectives.
 * Days of month and of week thin it out by their share. Null when the expression cannot be read.
 */
export function cronRunsPerDay(expression: string): number | null {
  const fields = expression.trim().split(/\s+/);
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = '', more] =
    fields.length === 5 ? ['0', ...fields] : fields;
  if (weekday === '' || more !== undefined) return null;
  const times = [field(second, SECOND), field(minute, MINUTE), field(hour, HOUR)].map((values) => values?.size ?? 0);
  const months = field(month, MONTH);
  if (times.includes(0) || months === null) return null;
  const weekdays = new Set([...days(weekday, WEEKDAY)].map((value) => value % 7)).size;
  const share = (days(day, DAY).size / 31) * (months.size / 12) * (weekdays / 7);
  return times.reduce((product, size) => product * size, share);
}
