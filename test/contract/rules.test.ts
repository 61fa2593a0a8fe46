import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ruleCases } from '../../deploy/prometheus/source/cases.ts';
import { isAlert, SEVERITIES } from '../../deploy/prometheus/source/model.ts';
import { alerts, renderRuleFile, ruleGroups } from '../../deploy/prometheus/source/render.ts';
import { boards } from '../../grafana/source/boards.ts';
import { CATALOG, sampleNames } from '../../src/metrics/catalog.ts';
import { ownNames } from '../support/promql-names.ts';

const families = CATALOG.flatMap((domain) => domain.families);
const samples = new Map(families.flatMap((family) => sampleNames(family).map((name) => [name, family] as const)));
const rules = ruleGroups.flatMap((group) => group.rules);
const recorded = new Set(rules.flatMap((rule) => (isAlert(rule) ? [] : [rule.record])));

describe('the shipped rules', () => {
  it('use only metrics of the catalogue and recorded series', () => {
    const unknown = rules
      .flatMap((rule) => ownNames(rule.expr))
      .filter((name) => !samples.has(name) && !recorded.has(name));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('G-130: take rates and increases of counters only', () => {
    const wrong = rules.flatMap((rule) =>
      [...rule.expr.matchAll(/(?:rate|increase)\(([a-z_]+)[{[]/g)]
        .map(([, name]) => name ?? '')
        .filter((name) => {
          const family = samples.get(name);
          return family?.type !== 'counter' && family?.type !== 'histogram' && family?.type !== 'summary';
        }),
    );
    expect(wrong).toEqual([]);
  });

  it('never decide by inequality, which NaN passes', () => {
    expect(rules.filter((rule) => /[^!=<>]!=\s/.test(rule.expr.replace(/\{[^}]*\}/g, '')))).toEqual([]);
  });

  it('G-128: compare increases with values between integers', () => {
    const thresholds = rules
      .flatMap((rule) => [...rule.expr.matchAll(/increase[0-9a-z]*[^><]*[><] ([0-9.]+)/g)])
      .map(([, threshold]) => Number(threshold))
      .filter((threshold) => threshold > 0 && Number.isInteger(threshold));
    expect(thresholds).toEqual([]);
  });

  for (const alert of alerts) {
    describe(`${alert.alert} (${alert.severity})`, () => {
      const own = ruleCases.filter((test) => test.alert === alert.alert);
      it('has a test in which it fires', () => {
        expect(own.some((test) => test.severity === alert.severity && test.firing > 0)).toBe(true);
      });
      it('has a test in which it must not fire', () => {
        const always = alert.expr === 'vector(1)';
        expect(always || own.some((test) => test.firing === 0)).toBe(true);
      });
      it('has a runbook with its five parts', () => {
        const path = `docs/runbooks/${alert.alert}.md`;
        expect(existsSync(path)).toBe(true);
        const text = readFileSync(path, 'utf8');
        for (const part of ['Meaning', 'Impact', 'Look here', 'Do this', 'Why it may be wrong']) {
          expect(text).toContain(`## ${part}\n`);
        }
      });
      it('has a constant summary, a description, a known severity and a board that exists', () => {
        expect(alert.summary).not.toContain('{{');
        expect(alert.summary.length).toBeLessThan(200);
        expect(alert.description.length).toBeGreaterThan(10);
        expect(SEVERITIES).toContain(alert.severity);
        expect(boards.map(({ dashboard }) => dashboard.uid)).toContain(alert.dashboard);
      });
    });
  }

  it('are rendered with every alert once per severity', () => {
    const names = alerts.map((alert) => `${alert.alert}/${alert.severity}`);
    expect(new Set(names).size).toBe(names.length);
    for (const alert of alerts) expect(renderRuleFile()).toContain(`alert: ${alert.alert}\n`);
  });
});
