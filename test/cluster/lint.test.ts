import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { missing, run } from './support/programs.ts';
import { kustomize } from './support/rendered.ts';

interface Waiver {
  readonly check: string;
  readonly of?: string;
  readonly finding?: string;
  readonly reason: string;
}
interface Finding {
  readonly check: string;
  readonly of: string;
  readonly text: string;
}

const waivers: Readonly<Record<string, readonly Waiver[]>> = parse(readFileSync('test/cluster/waivers.yml', 'utf8'));
/** Engines of the examples; the exporter's own container and objects must do without their waivers. */
const ENGINE = /(?:^|\.)(?:vllm|sglang)(?:\.|$)/;

const fits = (waiver: Waiver, finding: Finding): boolean =>
  waiver.check === finding.check &&
  (waiver.finding ?? finding.text) === finding.text &&
  (waiver.of === undefined || ENGINE.test(finding.of));

/** Each finding needs a waiver, and each waiver a finding. */
function judge(tool: string, findings: readonly Finding[]): void {
  const own = waivers[tool] ?? [];
  expect(findings.filter((finding) => !own.some((waiver) => fits(waiver, finding)))).toEqual([]);
  expect(own.filter((waiver) => !findings.some((finding) => fits(waiver, finding)))).toEqual([]);
}

const folder = mkdtempSync(join(tmpdir(), 'inference-probe-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing('hadolint'))('hadolint', () => {
  it('finds nothing in the Dockerfile', async () => {
    expect(await run('hadolint', ['Dockerfile'])).toMatchObject({ code: 0, out: '' });
  });

  it('would find something in a bad one', async () => {
    const { code, out } = await run('hadolint', ['-'], { input: 'FROM node:latest\nRUN cd /x && sudo npm i y\n' });
    expect(code).not.toBe(0);
    expect(out).toContain('DL3007');
  });
});

describe.skipIf(missing('kubectl'))('the rendered manifests', () => {
  const files: string[] = [];
  beforeAll(async () => {
    for (const form of ['standalone', 'overlays/vllm', 'overlays/sglang']) {
      const path = join(folder, `${form.replace('/', '-')}.yaml`);
      writeFileSync(path, await kustomize(`deploy/kubernetes/${form}`));
      files.push(path);
    }
  });

  describe.skipIf(missing('kubernetesValidate'))('kubernetes-validate', () => {
    it.each(['1.29', '1.33', '1.37'])('fit the schemas of Kubernetes %s', async (version) => {
      const { code, out, err } = await run('kubernetesValidate', ['--strict', '-k', version, ...files]);
      const lines = `${out}${err}`.split('\n').filter((line) => line !== '' && !line.startsWith('INFO '));
      // The schemas are those of Kubernetes alone; the API server of this suite has the operator's.
      expect(lines.filter((line) => !line.includes('api version monitoring.coreos.com/v1'))).toEqual([]);
      expect(code).toBe(0);
    });

    it('finds a misspelt field', async () => {
      const [path = ''] = files;
      const planted = join(folder, 'planted.yaml');
      writeFileSync(planted, readFileSync(path, 'utf8').replace('livenessProbe:', 'livenesProbe:'));
      const { code, out, err } = await run('kubernetesValidate', ['--strict', planted]);
      expect(code).not.toBe(0);
      expect(`${out}${err}`).toContain('livenesProbe');
    });
  });

  describe.skipIf(missing('kubeScore'))('kube-score', () => {
    interface Scored {
      readonly object_name: string;
      readonly checks: readonly {
        readonly check: { readonly id: string };
        readonly grade: number;
        readonly skipped: boolean;
        readonly comments: readonly { readonly path: string; readonly summary: string }[] | null;
      }[];
    }

    it('finds nothing but what is waived', async () => {
      const findings: Finding[] = [];
      for (const path of files) {
        const { out } = await run('kubeScore', ['score', path, '--output-format', 'json']);
        const scored: readonly Scored[] = JSON.parse(out);
        expect(scored.length).toBeGreaterThanOrEqual(2);
        for (const { object_name, checks } of scored) {
          const name = object_name.split('/').at(-1) ?? '';
          for (const { check, grade, skipped, comments } of checks) {
            if (skipped || grade >= 10) continue;
            for (const { path: of, summary } of comments ?? []) {
              findings.push({ check: check.id, of: of === '' ? name : of, text: summary });
            }
          }
        }
      }
      judge('kube-score', findings);
    });
  });

  describe.skipIf(missing('checkov'))('checkov', () => {
    interface Report {
      readonly summary: { readonly passed: number };
      readonly results: {
        readonly failed_checks: readonly {
          readonly check_id: string;
          readonly resource: string;
          readonly check_name: string;
        }[];
      };
    }

    it('finds nothing but what is waived', async () => {
      const { out } = await run('checkov', [
        '--skip-download',
        '--framework=kubernetes',
        '--compact',
        '--quiet',
        '--output=json',
        ...files.flatMap((path) => ['-f', path]),
      ]);
      const report: Report = JSON.parse(out);
      expect(report.summary.passed).toBeGreaterThan(100);
      judge(
        'checkov',
        report.results.failed_checks.map(({ check_id, resource, check_name }) => ({
          check: check_id,
          of: resource,
          text: check_name,
        })),
      );
    });
  });
});
