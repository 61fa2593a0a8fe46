import { describe, expect, it } from 'vitest';
import type { EngineName } from '../../../src/engine/types.ts';
import { normalized, pageNames, pageText, parsedPage, readerFor } from '../../support/pages.ts';
import { COLUMNS, DYNAMO_PAGES, LLAMACPP_PAGES, type Row, SGLANG_PAGES, VLLM_PAGES } from './recorded-pages.ts';

interface Group {
  readonly engine: EngineName;
  readonly model: string;
  readonly pages: Readonly<Record<string, readonly Row[]>>;
}

const GROUPS: readonly Group[] = [
  { engine: 'vllm', model: 'tiny', pages: VLLM_PAGES },
  { engine: 'sglang', model: 'tiny', pages: SGLANG_PAGES },
  { engine: 'dynamo', model: 'tiny', pages: DYNAMO_PAGES },
  { engine: 'llamacpp', model: '', pages: LLAMACPP_PAGES },
];

function rowsOf(text: string): readonly Row[] {
  return normalized(text, { histograms: true }).series.map((series) => {
    const values: Readonly<Record<string, number | undefined>> = {
      ...series.gauges,
      ...series.counters,
      capacity: series.kvCapacityTokens ?? undefined,
      ttftCount: series.histograms.ttft?.count,
      ttftSum: series.histograms.ttft?.sum,
    };
    return [series.dpRank, ...COLUMNS.map((column) => values[column] ?? null)];
  });
}

for (const { engine, model, pages } of GROUPS) {
  describe(`recorded pages of ${engine}`, () => {
    it.each(Object.entries(pages))('%s has the values that are on it', (name, rows) => {
      const text = pageText(name);
      expect(readerFor(parsedPage(text)).dialect.engine).toBe(engine);
      const byRank = (a: Row, b: Row): number => (a[0] < b[0] ? -1 : 1);
      expect([...rowsOf(text)].sort(byRank)).toEqual(rows);
    });

    it.each(Object.keys(pages))('%s is read without a malformed line or a value out of range', (name) => {
      const text = pageText(name);
      const page = parsedPage(text);
      expect(page).toMatchObject({ malformedLines: 0, duplicates: 0, foreign: false, empty: false, closed: true });
      expect(normalized(text).outOfRange).toBe(0);
      const models = new Set(normalized(text).series.map((series) => series.model));
      for (const found of models) expect(['', model]).toContain(found);
    });
  });
}

describe('the table of recorded pages', () => {
  it('has a row for every recorded page', () => {
    const recorded = pageNames().filter((name) => !name.includes('handwritten'));
    const listed = GROUPS.flatMap(({ pages }) => Object.keys(pages));
    expect([...listed].sort()).toEqual([...recorded].sort());
  });
});
