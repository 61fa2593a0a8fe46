import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG, sampleNames } from '../../src/metrics/catalog.ts';
import { createProcessMetrics } from '../../src/metrics/process-metrics.ts';
import { seconds, unixTime } from '../../src/units.ts';
import { readPage } from '../support/metrics-page.ts';
import { metricsUnderTest } from '../support/metrics-under-test.ts';
import { sampleConfig, sampleTarget } from '../support/sample-config.ts';
import { sampleSeries, sampleView } from '../support/sample-engine.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from '../support/sample-probe.ts';

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';
const NASTY = 'a"b\\c\nd, e="f"} #';

const histogram = { bounds: [0.001, 1, 2.5], counts: [0, 4, 9], count: 10, sum: 17.5 };
const histograms = { ttft: histogram, inter_token_latency: histogram, e2e: histogram, queue_time: histogram };

/** A page on which every family of the catalogue has a series, under names that try to break it. */
async function fullPage(accept: string) {
  const targets = [sampleTarget(), sampleTarget({ name: NASTY })];
  const metrics = metricsUnderTest(sampleConfig({ targets, traceparent: true }), {
    readCpuThrottling: () => ({ periods: 3, seconds: 0.25 }),
    processMetrics: createProcessMetrics(1_767_225_600),
  });
  metrics.engineViews(() =>
    targets.map(({ name }) =>
      sampleView({
        target: name,
        kvUsageSkewRatio: 0.2,
        series: [
          sampleSeries({ histograms }),
          sampleSeries({ dpRank: '1' }),
          sampleSeries({ model: NASTY, dpRank: '' }),
        ],
      }),
    ),
  );
  for (const { name } of targets) {
    const odd = {
      refusedParameters: ['ignore_eos'],
      certificateExpiresAt: unixTime(2e9),
      clientCertificateExpiresAt: unixTime(2e9),
      ttfcSeconds: seconds(1),
    };
    metrics.probeFinished(finished(goodProbe({ target: name, ...odd })));
    metrics.probeFinished(
      finished(failedProbe('stalled', { target: name, refusedParameters: odd.refusedParameters }), {
        diagnosis: sampleDiagnosis('preemption'),
      }),
    );
  }
  return metrics.render(accept);
}

const families = CATALOG.flatMap((domain) => domain.families);
const promtool = spawnSync('promtool', ['--version']).error === undefined;
if (!promtool) console.warn('SKIPPED: promtool is not installed, so the page is not checked by Prometheus itself');

describe('the page in the text format', () => {
  it.skipIf(!promtool)('G-088: passes promtool check metrics without a word', async () => {
    const { body } = await fullPage('');
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });

  it('G-088: has each family once, heading first, its samples in one piece', async () => {
    const { body } = await fullPage('');
    const seen = new Set<string>();
    let current = '';
    for (const line of body.trimEnd().split('\n')) {
      const help = /^# HELP (\S+) ./.exec(line)?.[1];
      if (help !== undefined) {
        expect(seen).not.toContain(help);
        seen.add(help);
        current = help;
      } else if (line.startsWith('# TYPE ')) expect(line).toContain(`# TYPE ${current} `);
      else expect(line).toMatch(new RegExp(`^${current}(_bucket|_sum|_count)?[{ ]`));
    }
  });

  it('G-089, G-094, G-097: ends with a line feed, has no time stamps, and names its type', async () => {
    const { body, contentType } = await fullPage('*/*');
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body.endsWith('\n')).toBe(true);
    expect(body).not.toContain('# EOF');
    // readPage takes exactly one value a line.
    expect(readPage(body).length).toBeGreaterThan(500);
  });

  it('G-145: carries no label that Prometheus puts on by itself', async () => {
    const labels = new Set(readPage((await fullPage('')).body).flatMap((sample) => Object.keys(sample.labels)));
    for (const label of ['instance', 'job', 'pod', 'namespace', 'url', '__name__']) expect(labels).not.toContain(label);
  });

  it('prints every bound as a float, so that a rule matches on Prometheus 2 and 3 alike', async () => {
    const bounds = readPage((await fullPage('')).body).flatMap(({ labels }) => labels.le ?? []);
    expect(bounds.length).toBeGreaterThan(100);
    for (const bound of bounds) expect(bound).toMatch(/^(\+Inf|\d+\.\d+|\d(\.\d+)?e[+-]\d\d)$/);
  });

  it('has buckets that never fall and end with the count', async () => {
    const samples = readPage((await fullPage('')).body);
    const buckets = samples.filter(({ name }) => name.endsWith('_bucket'));
    let key = '';
    let before = 0;
    for (const { name, labels, value } of buckets) {
      const { le, ...rest } = labels;
      const next = name + JSON.stringify(rest);
      if (next !== key) before = 0;
      key = next;
      expect(value).toBeGreaterThanOrEqual(before);
      before = value;
      if (le !== '+Inf') continue;
      const count = samples.find(
        (one) => `${one.name.replace(/_count$/, '_bucket')}${JSON.stringify(one.labels)}` === key,
      );
      expect(count?.value).toBe(value);
    }
  });
});

describe('the page in OpenMetrics', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'openmetrics-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.skipIf(!promtool)('is read without an error by the parser of Prometheus', async () => {
    const { body, contentType } = await fullPage(OPENMETRICS);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    // The command that reads OpenMetrics wants samples with a time; ours rightly have none.
    const stamped = body.replace(
      /^([a-z][^#\n]*?(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})? \S+)( #|$)/gm,
      '$1 1767225600$2',
    );
    const file = join(folder, 'page.txt');
    writeFileSync(file, stamped);
    const output = execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'data')], {
      encoding: 'utf8',
    });
    expect(output).toContain('MIN TIME');
  });

  it('G-092: ends with # EOF and has it nowhere else', async () => {
    const { body } = await fullPage(OPENMETRICS);
    expect(body.endsWith('\n# EOF\n')).toBe(true);
    expect(body.match(/# EOF/g)).toHaveLength(1);
  });

  it('G-091: has exemplars, short enough for the specification', async () => {
    const { body } = await fullPage(OPENMETRICS);
    const exemplars = [...body.matchAll(/ # \{([^}]*)\} [\d.e+-]+ [\d.]+$/gm)].map(([, labels = '']) => labels);
    expect(exemplars.length).toBeGreaterThan(4);
    for (const labels of exemplars) expect(labels.replace(/[="]/g, '').length).toBeLessThanOrEqual(128);
  });
});

describe('the catalogue', () => {
  it('has a series on the page for each of its families, and the page has no other', async () => {
    const onPage = new Set(readPage((await fullPage('')).body).map(({ name }) => name));
    const catalogued = new Set(families.flatMap((family) => sampleNames(family)));
    const linux = process.platform === 'linux';
    expect([...catalogued].filter((name) => !onPage.has(name) && (linux || !name.startsWith('process_')))).toEqual([]);
    expect([...onPage].filter((name) => !catalogued.has(name))).toEqual([]);
  });

  it('names things by the rules: no name twice, totals for counters, base units, a help that is a sentence', () => {
    const names = families.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type, help } of families) {
      expect(name).toMatch(/^(inference_(probe|engine)|process|nodejs)_[a-z0-9_]+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(name.endsWith('_info')).toBe(type === 'info');
      expect(name).not.toMatch(/_(ms|milliseconds|percent|pct)(_|$)/);
      expect(help).toMatch(/^[A-Z].*[.)]$/s);
    }
  });

  it('gives a reason for every list of bounds', () => {
    for (const { type, boundsReason } of families) {
      if (type === 'histogram') expect(boundsReason?.length).toBeGreaterThan(10);
    }
  });
});
