import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpositionParser, type ExpositionPage, parseExposition } from '../../src/engine/exposition.ts';
import type { ExpositionFormat } from '../../src/engine/exposition-line.ts';
import { everything, pageText } from '../support/pages.ts';

interface Metric {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestampMs: number | null;
}

const plainName = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,20}$/);
// Anything with a dot has to be written in quotes; so has a name of other alphabets.
const quotedName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => `${text}.x`);
const plainLabel = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,10}$/);
const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const nasty = fc.constantFrom('"', '\\', '\n', '\\n', '}', '{', ',', '=', '# EOF', ' # {', '\r', '\u2028');
const labelValue = fc.array(fc.oneof(text, nasty), { maxLength: 4 }).map((pieces) => pieces.join(''));
const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, 1e21, 5e-324));

const metric: fc.Arbitrary<Metric> = fc.record({
  name: fc.oneof({ weight: 3, arbitrary: plainName }, { weight: 1, arbitrary: quotedName }),
  labels: fc.dictionary(plainLabel, labelValue, { maxKeys: 5, noNullPrototype: false }),
  value,
  timestampMs: fc.option(fc.integer({ min: -1000, max: 4e12 }), { nil: null }),
});

const escaped = (raw: string): string => raw.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"');

function writeValue(number: number): string {
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return number > 0 ? '+Inf' : '-Inf';
  return Object.is(number, -0) ? '-0' : String(number);
}

/** An independent writer of the format. */
function write(one: Metric, format: ExpositionFormat): string {
  const isPlain = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(one.name);
  const pairs = Object.entries(one.labels).map(([name, raw]) => `${name}="${escaped(raw)}"`);
  const inside = isPlain ? pairs : [`"${escaped(one.name)}"`, ...pairs];
  const block = inside.length > 0 ? `{${inside.join(',')}}` : '';
  const stampScale = format === 'text' ? 1 : 1000;
  const stamp = one.timestampMs === null ? '' : ` ${one.timestampMs / stampScale}`;
  return `${isPlain ? one.name : ''}${block} ${writeValue(one.value)}${stamp}`;
}

const flat = (page: ExpositionPage): unknown => ({
  ...page,
  samples: [...page.samples.values()].flat().map((sample) => ({ ...sample, labels: [...sample.labels] })),
  types: [...page.types],
  names: [...page.names],
});

function parseInPieces(whole: string, cuts: readonly number[], format: ExpositionFormat): ExpositionPage {
  const parser = createExpositionParser({ format, wants: everything });
  const ends = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...ends, whole.length]) {
    parser.feed(whole.slice(start, end));
    start = end;
  }
  return parser.end();
}

describe('the exposition parser', () => {
  it('G-086: reads back whatever was written, in both formats', () => {
    fc.assert(
      fc.property(metric, fc.constantFrom('text' as const, 'openmetrics' as const), (one, format) => {
        const page = parseExposition(`${write(one, format)}\n`, { format, wants: everything });
        const [sample] = page.samples.get(one.name) ?? [];
        expect(page.malformedLines).toBe(0);
        expect(sample?.value).toBe(one.value);
        expect(Object.fromEntries(sample?.labels ?? [])).toEqual(one.labels);
        if (one.timestampMs === null) expect(sample?.timestampMs).toBeNull();
        else expect(sample?.timestampMs).toBeCloseTo(one.timestampMs, 2);
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same page for any split of the text', () => {
    const page = fc.array(metric, { maxLength: 8 }).map((all) => all.map((one) => `${write(one, 'text')}\n`).join(''));
    fc.assert(
      fc.property(page, fc.array(fc.nat(), { maxLength: 12 }), (whole, cuts) => {
        const atOnce = parseExposition(whole, { format: 'text', wants: everything });
        expect(flat(parseInPieces(whole, cuts, 'text'))).toEqual(flat(atOnce));
      }),
      { numRuns: 150 },
    );
  });

  it('gives the same page for any split of a recorded one', () => {
    const whole = pageText('vllm-0.8.5-v0/metrics-load1');
    const atOnce = flat(parseExposition(whole, { format: 'text', wants: everything }));
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
        expect(flat(parseInPieces(whole, cuts, 'text'))).toEqual(atOnce);
      }),
      { numRuns: 20 },
    );
  });

  it('throws for no text at all, and counts every line once', () => {
    const alphabet = fc.constantFrom(...'a1{}="\\\n\r# ,.:_-+NITYPE\t\u0000é€😀'.split(''));
    const noise = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(alphabet, { maxLength: 200 }).map((characters) => characters.join('')),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), (whole, isOpen) => {
        const format = isOpen ? 'openmetrics' : 'text';
        const page = parseExposition(whole, { format, wants: everything });
        const held = [...page.samples.values()].reduce((sum, samples) => sum + samples.length, 0);
        expect(held + page.malformedLines + page.duplicates).toBe(page.sampleLines);
      }),
      { numRuns: 500 },
    );
  });

  it('holds of a filtered page what it holds of the whole one', () => {
    const whole = pageText('vllm-0.32.0-plain2/metrics-load');
    const all = parseExposition(whole, { format: 'text', wants: everything });
    fc.assert(
      fc.property(fc.subarray([...all.samples.keys()]), (names) => {
        const wanted = new Set(names);
        const page = parseExposition(whole, { format: 'text', wants: (name) => wanted.has(name) });
        expect([...page.samples]).toEqual([...all.samples].filter(([name]) => wanted.has(name)));
      }),
      { numRuns: 20 },
    );
  });
});
