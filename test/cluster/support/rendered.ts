import { type Manifest, Node, parseManifests } from '../../support/manifests.ts';
import { run } from './programs.ts';

export const CHART = 'deploy/helm/inference-probe-exporter';
const RELEASE = 'inference-probe-exporter';

/** What `kubectl kustomize` makes of a folder. */
export async function kustomize(folder: string): Promise<string> {
  const { code, out, err } = await run('kubectl', ['kustomize', folder]);
  if (code !== 0 || err !== '') throw new Error(`kubectl kustomize ${folder}: ${err}`);
  return out;
}

/** What the chart gives with these arguments. */
export async function helmTemplate(args: readonly string[] = []): Promise<string> {
  const { code, out, err } = await run('helm', ['template', RELEASE, CHART, ...args]);
  if (code !== 0) throw new Error(`helm template: ${err}`);
  return out;
}

/** Every form in which the project is installed. */
export const FORMS = [
  { id: 'the overlay for vLLM', render: () => kustomize('deploy/kubernetes/overlays/vllm') },
  { id: 'the overlay for SGLang', render: () => kustomize('deploy/kubernetes/overlays/sglang') },
  { id: 'the overlay for vLLM with the legacy sidecar', render: () => kustomize('test/cluster/overlays/legacy') },
  { id: 'standalone', render: () => kustomize('deploy/kubernetes/standalone') },
  { id: 'the chart', render: () => helmTemplate() },
  {
    id: 'the chart with everything set',
    render: () => helmTemplate(['--values', 'test/cluster/values-everything.yaml']),
  },
] as const;

/** The Pod that a Deployment would make, under the Deployment's name. */
export function podOf(deployment: Manifest): string {
  const template = deployment.body.at('spec', 'template');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: deployment.name, labels: template.at('metadata', 'labels').value },
    spec: template.at('spec').value,
  });
}

/** Objects by kind and name, parsed, with texts that hold YAML or JSON parsed as well. */
export function byIdentity(text: string, source: string): ReadonlyMap<string, unknown> {
  return new Map(
    parseManifests(text, source).map(({ kind, name, body }) => {
      const config = new Node(body.value).at('data', 'config.yml').value;
      if (typeof config !== 'string') return [`${kind} ${name}`, body.value];
      const value = body.value as Record<string, unknown>;
      const [parsed] = parseManifests(config, 'config.yml');
      return [`${kind} ${name}`, { ...value, data: { 'config.yml': parsed?.body.value } }];
    }),
  );
}
