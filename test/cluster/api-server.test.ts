import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exporterContainers, type Manifest, parseManifests, podSpec } from '../support/manifests.ts';
import { type ApiServer, startApiServer } from './support/api-server.ts';
import { missing, programs } from './support/programs.ts';
import { FORMS, podOf } from './support/rendered.ts';

/** Enforces what the manifests claim to need, and warns of anything beyond it. */
const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata:
  name: NAME
  labels:
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/warn: restricted
`;

const GROUPS = ['podmonitors', 'servicemonitors', 'prometheusrules'];
const STRICT = '--validate=strict';

describe.skipIf(missing('apiServer', 'etcd', 'kubectl', 'helm'))('a Kubernetes API server', () => {
  let server: ApiServer;
  const createNamespace = async (name: string): Promise<void> => {
    const { code, err } = await server.kubectl(['apply', '-f', '-'], NAMESPACE.replace('NAME', name));
    if (code !== 0) throw new Error(err);
  };

  beforeAll(async () => {
    server = await startApiServer();
    const crds = join(process.env.CLUSTER_SERVER ?? '', 'crds');
    const files = readdirSync(crds).filter((name) => GROUPS.some((group) => name.endsWith(`_${group}.yaml`)));
    expect(files).toHaveLength(GROUPS.length);
    for (const name of files) {
      const { code, err } = await server.kubectl(['create', '-f', join(crds, name)]);
      if (code !== 0) throw new Error(err);
    }
    const names = GROUPS.map((group) => `crd/${group}.monitoring.coreos.com`);
    const waited = await server.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names]);
    if (waited.code !== 0) throw new Error(waited.err);
    // Quota admission looks for these; a cluster has them from its controllers.
    await createNamespace('checks');
    console.warn('SKIPPED: GrafanaDashboard objects; the definitions of the Grafana operator are not to be had here');
  }, 120_000);
  afterAll(async () => server?.close());

  describe.each(FORMS.map((form, index) => ({ ...form, namespace: `form-${index}` })))(
    '$id',
    ({ render, namespace }) => {
      let text: string;
      let objects: readonly Manifest[];
      beforeAll(async () => {
        text = await render();
        objects = parseManifests(text, namespace);
        await createNamespace(namespace);
      });

      it('is accepted in a dry run, strictly and without a warning', async () => {
        const { code, err } = await server.kubectl(
          ['apply', '-n', namespace, '--dry-run=server', STRICT, '-f', '-'],
          text,
        );
        expect(err).toBe('');
        expect(code).toBe(0);
      });

      it('is stored as it was meant, and a second apply changes nothing', async () => {
        const first = await server.kubectl(['apply', '-n', namespace, STRICT, '-f', '-'], text);
        expect(first.err).toBe('');
        expect(first.out.trim().split('\n')).toHaveLength(objects.length);
        for (const { kind, name, body } of objects) {
          const { out } = await server.kubectl(['get', '-n', namespace, kind, name, '-o', 'json']);
          const { data, spec, stringData } = body.value as Record<string, object | undefined>;
          // The server adds defaults and forgets nothing. Secrets come back encoded, quantities in their short form.
          if (stringData !== undefined) continue;
          expect(JSON.parse(out)).toMatchObject(
            JSON.parse(JSON.stringify({ ...(data && { data }), ...(spec && { spec }) })),
          );
        }
        const second = await server.kubectl(['apply', '-n', namespace, STRICT, '-f', '-'], text);
        expect(
          second.out
            .trim()
            .split('\n')
            .filter((line) => !line.endsWith(' unchanged')),
        ).toEqual([]);
      });

      it('makes a Pod that the restricted level lets in', async () => {
        const deployments = objects.filter(({ kind }) => kind === 'Deployment');
        expect(deployments).toHaveLength(1);
        for (const deployment of deployments) {
          expect(exporterContainers(deployment)).toHaveLength(1);
          const { code, err } = await server.kubectl(
            ['create', '-n', namespace, '--dry-run=server', STRICT, '-f', '-'],
            podOf(deployment),
          );
          expect(err).toBe('');
          expect(code).toBe(0);
        }
      });
    },
  );

  describe('refuses', () => {
    const apply = (text: string) =>
      server.kubectl(['apply', '-n', 'checks', '--dry-run=server', STRICT, '-f', '-'], text);
    const [vllm] = FORMS;
    const standalone = FORMS[3];

    it.each([
      ['a misspelt field of the container', 'livenessProbe:', 'livenesProbe:', /unknown field/],
      ['a misspelt field of the sidecar', 'restartPolicy: Always', 'restartPolice: Always', /unknown field/],
      [
        'a restart policy that a sidecar cannot have',
        'restartPolicy: Always',
        'restartPolicy: Sometimes',
        /restartPolicy/,
      ],
      ['a port name that is too long', 'name: probe-metrics', 'name: inference-probe-metrics', /no more than 15/],
      ['a request beyond the limit', 'memory: 96Mi', 'memory: 960Mi', /must be less than or equal to memory limit/],
      ['a misspelt field of the monitor', 'scrapeTimeout:', 'scrapeTimout:', /unknown field/],
      ['an interval that is none', 'interval: 15s', 'interval: 15 seconds', /interval/],
      ['a misspelt field of a rule', 'for: 1m', 'forr: 1m', /unknown field/],
      ['a duration of a rule that is none', 'for: 1m', 'for: 1 minute', /for/],
    ])('%s', async (_what, right, wrong, told) => {
      const text = await vllm.render();
      expect(text).toContain(right);
      const { code, err } = await apply(text.replaceAll(right, wrong));
      expect(code).not.toBe(0);
      expect(err).toMatch(told);
    });

    it('a Deployment that does not select its own Pods', async () => {
      const text = (await standalone.render()).replace(/(matchLabels:\n\s+app\.kubernetes\.io\/name: )\S+/g, '$1other');
      const { err } = await apply(text);
      expect(err).toMatch(/selector.*does not match template `?labels/i);
    });

    it.each([
      ['privilege escalation', 'allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true'],
      ['capabilities that are kept', '- ALL', '- NET_RAW'],
      ['a container that may be root', 'runAsNonRoot: true', 'runAsNonRoot: false'],
    ])('a Pod with %s', async (_what, right, wrong) => {
      const [deployment] = parseManifests((await standalone.render()).replaceAll(right, wrong), 'planted').filter(
        ({ kind }) => kind === 'Deployment',
      );
      const pod = podOf(deployment as Manifest);
      const { code, err } = await server.kubectl(['create', '-n', 'checks', '--dry-run=server', '-f', '-'], pod);
      expect(code).not.toBe(0);
      expect(err).toMatch(/violates PodSecurity "restricted/);
    });
  });

  it('keeps the sidecar beside the engine, running, and out of the readiness of the Pod', async () => {
    const { out } = await server.kubectl(['get', '-n', 'form-0', 'deployment', 'vllm', '-o', 'json']);
    const [stored] = parseManifests(out, 'stored');
    const spec = podSpec(stored as Manifest);
    expect(spec.at('initContainers', 0, 'restartPolicy').value).toBe('Always');
    expect(spec.at('initContainers', 0, 'readinessProbe').value).toBeUndefined();
    expect(spec.at('containers').items()).toHaveLength(1);
    expect(programs.apiServer).not.toBeNull();
  });

  it('takes the example Secret, which is applied by hand', async () => {
    const { code, err } = await server.kubectl([
      'apply',
      '-n',
      'checks',
      STRICT,
      '-f',
      'deploy/kubernetes/standalone/secret.example.yaml',
    ]);
    expect(err).toBe('');
    expect(code).toBe(0);
  });
});
