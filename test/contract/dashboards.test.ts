import { describe, expect, it } from 'vitest';
import { isAlert } from '../../deploy/prometheus/source/model.ts';
import { ruleGroups } from '../../deploy/prometheus/source/render.ts';
import { boards, renderBoard } from '../../grafana/source/boards.ts';
import { NOT_SHOWN } from '../../grafana/source/not-shown.ts';
import { CATALOG, sampleNames } from '../../src/metrics/catalog.ts';
import { ownNames } from '../support/promql-names.ts';

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly datasource?: { readonly uid?: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly datasource?: { readonly uid?: string } }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly min?: number; readonly max?: number };
  };
}

const families = CATALOG.flatMap((domain) => domain.families);
const known = new Set(families.flatMap((family) => sampleNames(family)));
const recorded = new Set(
  ruleGroups.flatMap((group) => group.rules.flatMap((rule) => (isAlert(rule) ? [] : [rule.record]))),
);
const parsed = boards.map((board, index) => ({ file: board.file, json: JSON.parse(renderBoard(index)) }));
const panelsOf = (json: { panels: Panel[] }): Panel[] => json.panels.filter((panel) => panel.type !== 'row');
const expressions = parsed.flatMap(({ json }) =>
  panelsOf(json).flatMap((panel) => (panel.targets ?? []).map((t) => t.expr)),
);

for (const { file, json } of parsed) {
  describe(`board ${file}`, () => {
    const panels = panelsOf(json);

    it('uses only metrics of the catalogue and recorded series', () => {
      const unknown = panels
        .flatMap((panel) => (panel.targets ?? []).flatMap((target) => ownNames(target.expr)))
        .filter((name) => !known.has(name) && !recorded.has(name));
      expect([...new Set(unknown)]).toEqual([]);
    });

    it('G-151, G-152: names no data source but the variable, and has no inputs', () => {
      const text = JSON.stringify(json);
      const uids = [...text.matchAll(/"uid":"([^"]*)"/g)].map(([, uid]) => uid).filter((uid) => uid !== json.uid);
      expect(new Set(uids)).toEqual(new Set(['${datasource}']));
      expect(json.__inputs).toBeUndefined();
      for (const variable of json.templating.list) expect(variable.current).toBeUndefined();
    });

    it('G-154: asks for no name of an engine', () => {
      expect(JSON.stringify(json)).not.toMatch(/vllm[:_]|sglang[:_]|trtllm[:_]|tgi_|llamacpp[:_]/);
    });

    it('gives each panel a title, a description, a unit and at least one query', () => {
      for (const panel of panels) {
        expect(panel.title).not.toBe('');
        expect((panel.description ?? '').length, panel.title).toBeGreaterThan(20);
        expect(panel.targets?.length, panel.title).toBeGreaterThan(0);
        const unit = panel.type === 'heatmap' ? 's' : panel.fieldConfig?.defaults.unit;
        expect(unit, panel.title).toBeTruthy();
      }
    });

    it('G-155: lets no ratio or latency pretend that nothing is zero', () => {
      for (const panel of panels) {
        for (const target of panel.targets ?? []) expect(target.expr, panel.title).not.toMatch(/or vector\(0\)/);
      }
      expect(JSON.stringify(json)).not.toContain('"spanNulls":true');
    });

    it('uses $__rate_interval or a stated window for every rate, and takes rates of counters only', () => {
      for (const panel of panels) {
        for (const target of panel.targets ?? []) {
          for (const [, window] of target.expr.matchAll(/(?:rate|increase)\([^[]*\[([^\]]+)\]/g)) {
            expect(['$__rate_interval', '1h', '10m'], `${panel.title}: ${target.expr}`).toContain(window);
          }
        }
      }
    });

    it('selects by job, namespace and target wherever these labels exist', () => {
      for (const panel of panels) {
        for (const target of panel.targets ?? []) {
          if (ownNames(target.expr).length > 0) expect(target.expr, panel.title).toContain('job=~"$job"');
        }
      }
    });

    it('never averages a quantile', () => {
      for (const panel of panels) {
        for (const target of panel.targets ?? [])
          expect(target.expr).not.toMatch(/avg[^(]*\([^)]*(histogram_quantile|:p\d\d)/);
      }
    });

    it('has a grid without overlaps inside 24 columns', () => {
      const taken = new Map<string, string>();
      for (const panel of json.panels as Panel[]) {
        const { x, y, w, h } = panel.gridPos;
        expect(x + w, panel.title).toBeLessThanOrEqual(24);
        for (let column = x; column < x + w; column += 1) {
          for (let line = y; line < y + h; line += 1) {
            const cell = `${column},${line}`;
            expect(taken.get(cell), `${panel.title} lies over ${taken.get(cell)}`).toBeUndefined();
            taken.set(cell, panel.title);
          }
        }
      }
    });

    it('keeps time and variables on the way to its sisters, and is not editable by accident', () => {
      expect(json.links[0]).toMatchObject({ keepTime: true, includeVars: true });
      expect(json.editable).toBe(false);
      expect(json.uid.length).toBeLessThanOrEqual(40);
    });
  });
}

describe('the catalogue beside boards and rules', () => {
  const used = new Set([
    ...expressions.flatMap(ownNames),
    ...ruleGroups.flatMap((group) => group.rules.flatMap((rule) => ownNames(rule.expr))),
  ]);
  const owned = families.filter((family) => family.name.startsWith('inference_'));

  it('shows every metric, or says why not', () => {
    const missing = owned
      .filter((family) => !sampleNames(family).some((name) => used.has(name)))
      .map((family) => family.name)
      .filter((name) => !(name in NOT_SHOWN));
    expect(missing).toEqual([]);
  });

  it('gives no reason for a metric that is shown or does not exist', () => {
    const names = new Map(owned.map((family) => [family.name, family] as const));
    const wrong = Object.keys(NOT_SHOWN).filter((name) => {
      const family = names.get(name);
      return family === undefined || sampleNames(family).some((sample) => used.has(sample));
    });
    expect(wrong).toEqual([]);
  });
});
