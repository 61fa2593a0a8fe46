import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const find = (folder: string | undefined, name: string): string | null => {
  if (folder === undefined || folder === '') return null;
  const path = join(folder, name);
  return existsSync(path) ? path : null;
};

/** The programs of the suite; null where one is not installed. run.sh says where they are. */
export const programs = {
  helm: find(process.env.CLUSTER_TOOLS, 'helm'),
  kubectl: find(process.env.CLUSTER_TOOLS, 'kubectl'),
  hadolint: find(process.env.CLUSTER_LINTERS, 'hadolint'),
  kubernetesValidate: find(process.env.CLUSTER_LINTERS, 'kubernetes-validate'),
  checkov: find(process.env.CLUSTER_LINTERS, 'checkov'),
  kubeScore: find(process.env.CLUSTER_KUBE_SCORE, 'kube-score'),
  etcd: find(process.env.CLUSTER_SERVER, 'etcd'),
  apiServer: find(process.env.CLUSTER_SERVER, 'kube-apiserver'),
};

/** Says loudly what is left out. True when one of the programs is missing. */
export function missing(...names: readonly (keyof typeof programs)[]): boolean {
  const gone = names.filter((name) => programs[name] === null);
  if (gone.length > 0) console.warn(`SKIPPED: ${gone.join(' and ')} not installed`);
  return gone.length > 0;
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end. */
export async function run(
  name: keyof typeof programs,
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const child = spawn(programs[name] ?? name, args, {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  // A program that refuses its command line does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : 1, out, err };
}
