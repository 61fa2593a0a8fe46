import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { missing, run } from './support/programs.ts';
import { byIdentity, CHART, helmTemplate, kustomize } from './support/rendered.ts';

const folder = mkdtempSync(join(tmpdir(), 'inference-probe-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing('helm', 'kubectl'))('the chart', () => {
  it('passes helm lint', async () => {
    for (const values of [[], ['--values', 'test/cluster/values-everything.yaml']]) {
      const { code, out, err } = await run('helm', ['lint', '--strict', CHART, ...values]);
      expect(`${out}${err}`).not.toMatch(/WARNING|ERROR/);
      expect(code).toBe(0);
    }
  });

  it('gives with its default values exactly what kustomize gives', async () => {
    const chart = byIdentity(await helmTemplate(), 'chart');
    const standalone = byIdentity(await kustomize('deploy/kubernetes/standalone'), 'standalone');
    expect([...chart.keys()].sort()).toEqual([...standalone.keys()].sort());
    expect(chart.size).toBe(9);
    for (const [identity, object] of standalone) expect(chart.get(identity), identity).toEqual(object);
  });

  it('has every value of its values file in the file that sets everything, and in its schema', () => {
    const defaults = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'));
    const everything = parse(readFileSync('test/cluster/values-everything.yaml', 'utf8'));
    const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
    // These two name an object of one's own instead of the chart's: tested below.
    const instead = ['existingConfigMap', 'existingSecret'];
    expect([...Object.keys(everything), ...instead].sort()).toEqual(Object.keys(defaults).sort());
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(defaults)));
  });

  it.each([
    ['a misspelt value', ['--set', 'serviceMonitors.enabled=true'], /serviceMonitors/],
    ['a misspelt value below another', ['--set', 'image.tags=1'], /tags/],
    ['two replicas, which would probe twice', ['--set', 'replicas=2'], /replicas/],
    ['a duration without a unit', ['--set', 'serviceMonitor.interval=15'], /interval/],
    ['a digest that is none', ['--set', 'image.digest=latest'], /digest/],
    ['a port that cannot be', ['--set', 'service.port=70000'], /port/],
    ['a configuration without targets', ['--set', 'config.targets=null'], /targets/],
  ])('refuses %s', async (_what, args, told) => {
    await expect(helmTemplate(args)).rejects.toThrow(told);
  });

  it('uses objects of one’s own where they are named, and makes none', async () => {
    const objects = byIdentity(
      await helmTemplate([
        '--set',
        'existingConfigMap=own',
        '--set',
        'existingSecret=keys',
        '--set',
        'secret.create=true',
      ]),
      'chart',
    );
    expect([...objects.keys()]).not.toContain('ConfigMap inference-probe-exporter');
    expect([...objects.keys()]).not.toContain('Secret inference-probe-exporter');
    const deployment = JSON.stringify(objects.get('Deployment inference-probe-exporter'));
    expect(deployment).toContain('"configMap":{"name":"own"}');
    expect(deployment).toContain('"secretName":"keys"');
  });

  it('leaves out what is switched off', async () => {
    const off = ['serviceMonitor', 'podMonitor', 'prometheusRule', 'dashboards', 'networkPolicy'];
    const objects = byIdentity(await helmTemplate(off.flatMap((part) => ['--set', `${part}.enabled=false`])), 'chart');
    expect([...objects.keys()].map((identity) => identity.split(' ')[0]).sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'ServiceAccount',
    ]);
  });

  it('writes a configuration that the program accepts', async () => {
    for (const args of [[], ['--values', 'test/cluster/values-everything.yaml']]) {
      const maps = [...byIdentity(await helmTemplate(args), 'chart')].filter(([identity]) =>
        identity.startsWith('ConfigMap'),
      );
      const config = maps.map(([, map]) => (map as { data: Record<string, unknown> }).data['config.yml']).find(Boolean);
      const path = join(folder, 'config.yml');
      writeFileSync(path, JSON.stringify(config));
      const { loadConfigFile } = await import('../../src/config/load.ts');
      expect(loadConfigFile(path, { environment: {} }).config.targets).toHaveLength(1);
    }
  });
});
