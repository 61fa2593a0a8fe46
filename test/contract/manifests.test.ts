import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEFAULTS } from '../../src/config/defaults.ts';
import { ENVIRONMENT_PREFIX, VARIABLES } from '../../src/config/environment.ts';
import { loadConfigFile } from '../../src/config/load.ts';
import { parseListenAddress } from '../../src/http/address.ts';
import { exporterContainers, type Manifest, Node, podSpec, readManifests } from '../support/manifests.ts';

const ROOT = 'deploy/kubernetes';
const CHART = 'deploy/helm/inference-probe-exporter';
const PORT = parseListenAddress(DEFAULTS.web.listenAddress).port;
const PORT_NAME = 'probe-metrics';
const JOB = 'inference-probe';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const manifests = readManifests(ROOT);
const dockerfile = readFileSync('Dockerfile', 'utf8');
const values = new Node(parse(readFileSync(`${CHART}/values.yaml`, 'utf8')));
const template = (name: string): string => readFileSync(`${CHART}/templates/${name}.yaml`, 'utf8');

const ofKind = (kind: string): readonly Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
const sidecars = ofKind('Deployment').filter(({ file }) => file.includes('/components/sidecar-'));
const standalone = ofKind('Deployment').filter(({ file }) => file.includes('/standalone/'));
const carriers = [...sidecars, ...standalone];
const byFile = carriers.map((manifest) => [manifest.file, manifest] as const);

const containerOf = (manifest: Manifest): Node => {
  const [container, ...more] = exporterContainers(manifest);
  expect(more).toEqual([]);
  expect(container).toBeDefined();
  return container ?? new Node(null);
};

describe('the manifests', () => {
  it('carry the exporter in two kinds of sidecar and one Deployment of its own', () => {
    expect(carriers.map(({ file }) => file)).toEqual([
      `${ROOT}/components/sidecar-legacy/patch.yaml`,
      `${ROOT}/components/sidecar-native/patch.yaml`,
      `${ROOT}/standalone/deployment.yaml`,
    ]);
  });

  it('mount whole directories, because a subPath mount never sees a rotated key', () => {
    const mounts = carriers.flatMap((manifest) => containerOf(manifest).at('volumeMounts').items());
    expect(mounts.length).toBeGreaterThan(0);
    for (const mount of mounts) {
      expect(mount.at('subPath').value).toBeUndefined();
      expect(mount.at('mountPath').text()).not.toMatch(/\.\w+$/);
      expect(mount.at('readOnly').value).toBe(true);
    }
    expect(template('deployment')).not.toContain('subPath');
  });

  it('G-166: read configuration and keys from where they are mounted', () => {
    const [deployment] = standalone;
    const container = containerOf(deployment as Manifest);
    const paths = container
      .at('volumeMounts')
      .items()
      .map((mount) => mount.at('mountPath').text());
    expect(
      container
        .at('args')
        .items()
        .map((argument) => argument.text()),
    ).toContain(`--config.file=${paths[0]}/config.yml`);
    const example = readFileSync(`${ROOT}/standalone/secret.example.yaml`, 'utf8');
    expect(example).toContain(`api_key_file: ${paths[1]}/api-key`);
  });

  it('do not bring the example Secret along, which would overwrite a real one at the next apply', () => {
    const resources = parse(readFileSync(`${ROOT}/standalone/kustomization.yaml`, 'utf8')).resources;
    expect(resources).not.toContain('secret.example.yaml');
    expect(existsSync(`${ROOT}/standalone/secret.example.yaml`)).toBe(true);
    expect(values.at('secret', 'create').value).toBe(false);
  });

  it('start one exporter, never two beside each other that probe twice', () => {
    const [deployment] = standalone;
    expect(deployment?.body.at('spec', 'replicas').value).toBe(1);
    expect(deployment?.body.at('spec', 'strategy', 'type').value).toBe('Recreate');
  });

  it('have a configuration that loads without a warning', () => {
    expect(loadConfigFile(`${ROOT}/standalone/config.yml`, { environment: {} }).issues).toEqual([]);
  });
});

describe.each(byFile)('the exporter in %s', (_file, manifest) => {
  const container = exporterContainers(manifest)[0] ?? new Node(null);

  it('is the image of this version', () => {
    expect(container.at('image').text()).toBe(`ghcr.io/inference-probe/inference-probe-exporter:${version}`);
  });

  it('knows its Pod, and is set by variables that the program reads', () => {
    const variables = container.at('env').items();
    const pod = variables.find((variable) => variable.at('name').value === 'POD_NAME');
    expect(pod?.at('valueFrom', 'fieldRef', 'fieldPath').value).toBe('metadata.name');
    expect(readFileSync('src/cli/serve.ts', 'utf8')).toContain('environment.POD_NAME ?? environment.HOSTNAME');
    const own = variables.map((variable) => variable.at('name').text()).filter((name) => name !== 'POD_NAME');
    for (const name of own) expect(Object.keys(VARIABLES).map((short) => ENVIRONMENT_PREFIX + short)).toContain(name);
  });

  it('may do nothing that it does not need', () => {
    const security = {
      ...(podSpec(manifest).at('securityContext').value as object),
      ...(container.at('securityContext').value as object),
    };
    expect(security).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.at('securityContext', 'capabilities', 'add').value).toBeUndefined();
    expect(container.at('securityContext', 'privileged').value).toBeUndefined();
  });

  it('asks for CPU and is not throttled, and has memory to grow into', () => {
    expect(container.at('resources', 'requests', 'cpu').text()).toMatch(/^\d+m$/);
    expect(container.at('resources', 'limits', 'cpu').value).toBeUndefined();
    expect(container.at('resources', 'requests', 'memory').text()).toMatch(/^\d+Mi$/);
    expect(Number.parseInt(container.at('resources', 'limits', 'memory').text(), 10)).toBeGreaterThan(128);
  });

  it('is restarted only when its event loop stands still, and not at the first slow answer', () => {
    const liveness = container.at('livenessProbe');
    expect(liveness.at('httpGet').value).toEqual({ path: '/-/healthy', port: PORT_NAME });
    const patience = Number(liveness.at('periodSeconds').value) * Number(liveness.at('failureThreshold').value);
    expect(patience).toBeGreaterThanOrEqual(60);
  });

  it('has its port under the name that the monitors look for', () => {
    expect(container.at('ports').value).toEqual([{ name: PORT_NAME, containerPort: PORT }]);
    // IANA_SVC_NAME, what the API server allows.
    expect(PORT_NAME.length).toBeLessThanOrEqual(15);
  });
});

describe('the sidecars', () => {
  it('never take an engine out of its Service', () => {
    for (const sidecar of sidecars) {
      expect(containerOf(sidecar).at('readinessProbe').value).toBeUndefined();
      expect(containerOf(sidecar).at('startupProbe').value).toBeUndefined();
    }
  });

  it('need no volume, no account and nothing else of the Pod', () => {
    for (const sidecar of sidecars) {
      expect(containerOf(sidecar).at('volumeMounts').value).toBeUndefined();
      expect(Object.keys(podSpec(sidecar).value as object)).toHaveLength(1);
    }
  });

  it('G-164: are native where the cluster can: an init container that is kept running', () => {
    const [legacy, native] = sidecars;
    expect(native && containerOf(native).at('restartPolicy').value).toBe('Always');
    expect(native && podSpec(native).at('containers').value).toBeUndefined();
    expect(legacy && containerOf(legacy).at('restartPolicy').value).toBeUndefined();
    expect(legacy && podSpec(legacy).at('initContainers').value).toBeUndefined();
  });

  it('differ in nothing but that', () => {
    const [legacy, native] = sidecars.map((sidecar) => containerOf(sidecar).value as Record<string, unknown>);
    expect({ ...legacy, restartPolicy: 'Always' }).toEqual(native);
  });

  it('carry the label that the PodMonitor selects', () => {
    const [monitor] = ofKind('PodMonitor');
    for (const sidecar of sidecars) {
      expect(sidecar.body.at('spec', 'template', 'metadata', 'labels').value).toEqual(
        monitor?.body.at('spec', 'selector', 'matchLabels').value,
      );
    }
  });

  it('probe the port that the engine beside them listens on', () => {
    for (const engine of ['vllm', 'sglang']) {
      const deployment = manifests.find(({ file }) => file === `${ROOT}/overlays/${engine}/deployment.yaml`);
      const port = deployment && podSpec(deployment).at('containers', 0, 'ports', 0, 'containerPort').value;
      const overlay = readFileSync(`${ROOT}/overlays/${engine}/kustomization.yaml`, 'utf8');
      const patched = /value: http:\/\/127\.0\.0\.1:(\d+)/.exec(overlay)?.[1];
      const [target] = sidecars.map((sidecar) => new URL(containerOf(sidecar).at('env', 0, 'value').text()).port);
      expect(Number(patched ?? target)).toBe(port);
    }
  });
});

describe('monitors, Service and policy', () => {
  const endpoints = [
    ...ofKind('PodMonitor').flatMap(({ body }) => body.at('spec', 'podMetricsEndpoints').items()),
    ...ofKind('ServiceMonitor').flatMap(({ body }) => body.at('spec', 'endpoints').items()),
  ];

  it('scrape the named port and path, and give up before the next scrape', () => {
    expect(endpoints).toHaveLength(2);
    for (const endpoint of endpoints) {
      expect(endpoint.at('port').value).toBe(PORT_NAME);
      expect(endpoint.at('path').value).toBe(DEFAULTS.web.telemetryPath);
      const seconds = (key: string): number => Number.parseInt(endpoint.at(key).text(), 10);
      expect(seconds('scrapeTimeout')).toBeLessThan(seconds('interval'));
    }
  });

  it('give every series the job under which rules are tested', () => {
    for (const endpoint of endpoints) {
      expect(endpoint.at('relabelings').value).toEqual([{ action: 'replace', targetLabel: 'job', replacement: JOB }]);
    }
    for (const file of ['short', 'long', 'healthy']) {
      const jobs = readFileSync(`deploy/prometheus/tests/${file}.test.yml`, 'utf8').matchAll(/job="([^"]*)"/g);
      expect([...jobs].map(([, job]) => job)).toContain(JOB);
    }
    for (const monitor of ['podmonitor', 'servicemonitor']) {
      expect(template(monitor)).toMatch(new RegExp(`targetLabel: job\\n\\s+replacement: ${JOB}\\n`));
    }
  });

  it('select what the Deployment of the exporter is labelled with', () => {
    const [deployment] = standalone;
    const labels = deployment?.body.at('spec', 'template', 'metadata', 'labels').value;
    const [service] = ofKind('Service').filter(({ file }) => file.includes('/standalone/'));
    expect(service?.body.at('spec', 'selector').value).toEqual(labels);
    expect(deployment?.body.at('spec', 'selector', 'matchLabels').value).toEqual(labels);
    expect(ofKind('ServiceMonitor')[0]?.body.at('spec', 'selector', 'matchLabels').value).toEqual(
      service?.body.at('metadata', 'labels').value,
    );
    expect(ofKind('NetworkPolicy')[0]?.body.at('spec', 'podSelector', 'matchLabels').value).toEqual(labels);
  });

  it('agree on the port everywhere', () => {
    const [service] = ofKind('Service').filter(({ file }) => file.includes('/standalone/'));
    expect(service?.body.at('spec', 'ports').value).toEqual([{ name: PORT_NAME, port: PORT, targetPort: PORT_NAME }]);
    expect(ofKind('NetworkPolicy')[0]?.body.at('spec', 'ingress', 0, 'ports').value).toEqual([
      { protocol: 'TCP', port: PORT },
    ]);
    expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${PORT}$`, 'm'));
    expect(dockerfile).toContain(`http://127.0.0.1:${PORT}/-/healthy`);
    expect(values.at('service', 'port').value).toBe(PORT);
    expect(template('deployment')).toMatch(new RegExp(`name: ${PORT_NAME}\\n\\s+containerPort: ${PORT}\\n`));
    expect(template('networkpolicy')).toContain(`port: ${PORT}\n`);
  });

  it('let the exporter reach the port of every engine that is set up here, and only the standalone form has a policy', () => {
    const [policy] = ofKind('NetworkPolicy');
    const ports = policy?.body
      .at('spec', 'egress')
      .items()
      .flatMap((rule) => rule.at('ports').items());
    const numbers = ports?.map((port) => port.at('port').value);
    const engines = ofKind('Service').filter(({ file }) => file.includes('/overlays/'));
    expect(engines).toHaveLength(2);
    for (const engine of engines) expect(numbers).toContain(engine.body.at('spec', 'ports', 0, 'port').value);
    expect(ofKind('NetworkPolicy').map(({ file }) => file)).toEqual([`${ROOT}/standalone/networkpolicy.yaml`]);
  });
});

describe('versions and contents', () => {
  it('are the same in package, image and chart', () => {
    const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8'));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
    expect(dockerfile).toMatch(new RegExp(`^ARG VERSION=${version.replaceAll('.', '\\.')}$`, 'm'));
  });

  it('of the image are Node 24 and a user that is not root', () => {
    expect(dockerfile).toMatch(/^FROM gcr\.io\/distroless\/nodejs24-debian12:nonroot$/m);
    expect(dockerfile).toMatch(/^USER 65532:65532$/m);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["/m);
  });

  const boards = readdirSync('grafana/dashboards');
  it.each(boards)('%s is in the base, in the chart and in the operator component', (board) => {
    const text = readFileSync(`grafana/dashboards/${board}`, 'utf8');
    expect(readFileSync(`${ROOT}/base/dashboards/${board}`, 'utf8')).toBe(text);
    expect(readFileSync(`${CHART}/files/${board}`, 'utf8')).toBe(text);
    expect(parse(readFileSync(`${ROOT}/base/kustomization.yaml`, 'utf8')).configMapGenerator[0].files).toContain(
      `dashboards/${board}`,
    );
    expect(ofKind('GrafanaDashboard').map(({ body }) => body.at('spec', 'configMapRef', 'key').value)).toContain(board);
  });

  it('of all boards together fit into the annotation in which kubectl apply keeps what it applied', () => {
    const data = Object.fromEntries(
      boards.map((board) => [board, readFileSync(`grafana/dashboards/${board}`, 'utf8')]),
    );
    expect(JSON.stringify(data).length).toBeLessThan(262_144 - 1000);
  });

  it('of the rules are the same for Prometheus, operator and chart, and name runbooks that are there', () => {
    const rules = parse(readFileSync('deploy/prometheus/inference-probe.rules.yml', 'utf8'));
    expect(ofKind('PrometheusRule')[0]?.body.at('spec').value).toEqual(rules);
    expect(parse(readFileSync(`${CHART}/files/inference-probe.rules.yml`, 'utf8'))).toEqual(rules);
    const urls = [...JSON.stringify(rules).matchAll(/"runbook_url":"[^"]*\/(docs\/runbooks\/[^"]+)"/g)];
    expect(urls.length).toBeGreaterThan(10);
    for (const [, path = ''] of urls) expect(existsSync(path)).toBe(true);
  });
});
