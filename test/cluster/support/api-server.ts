import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { type Ended, programs, run } from './programs.ts';

export interface ApiServer {
  /** Runs kubectl against the server; `input` is what `-f -` reads. */
  kubectl(args: readonly string[], input?: string): Promise<Ended>;
  close(): Promise<void>;
}

/** A program in a process group of its own, which run.sh ends should this process not get to it. */
function launch(path: string, args: readonly string[], log: string): () => Promise<void> {
  const output = openSync(log, 'w');
  const child = spawn(path, args, { detached: true, stdio: ['ignore', output, output] });
  const groups = process.env.PROBE_TEST_GROUPS;
  if (groups !== undefined && child.pid !== undefined) writeFileSync(join(groups, String(child.pid)), '');
  const ended = once(child, 'close');
  return async () => {
    child.kill('SIGKILL');
    await ended;
  };
}

/** etcd and kube-apiserver on loopback, with an administrator who may do everything. No kubelet: nothing runs. */
export async function startApiServer(): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-cluster-'));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const serverLog = join(folder, 'api-server.log');
  const stops = [
    launch(
      programs.etcd ?? '',
      [
        '--name=t',
        `--data-dir=${join(folder, 'etcd')}`,
        `--listen-client-urls=${etcdUrl}`,
        `--advertise-client-urls=${etcdUrl}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=t=${peerUrl}`,
        '--unsafe-no-fsync',
      ],
      join(folder, 'etcd.log'),
    ),
    launch(
      programs.apiServer ?? '',
      [
        `--etcd-servers=${etcdUrl}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--secure-port=${port}`,
        `--cert-dir=${join(folder, 'certificates')}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${file('sa.pub', publicKey)}`,
        `--service-account-signing-key-file=${file('sa.key', privateKey)}`,
        `--token-auth-file=${file('tokens.csv', 'token,admin,admin,system:masters\n')}`,
        '--authorization-mode=AlwaysAllow',
        '--disable-admission-plugins=ServiceAccount',
        '--endpoint-reconciler-type=none',
      ],
      serverLog,
    ),
  ];
  const close = async (): Promise<void> => {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const access = [`--server=https://127.0.0.1:${port}`, '--insecure-skip-tls-verify', '--token=token'];
  const kubectl: ApiServer['kubectl'] = (args, input) =>
    run('kubectl', [...access, ...args], {
      ...(input === undefined ? {} : { input }),
      // Neither the machine's own clusters nor its caches.
      env: { HOME: folder, KUBECONFIG: '/dev/null' },
    });

  const deadline = performance.now() + 90_000;
  for (;;) {
    const { code } = await kubectl(['get', '--raw=/readyz', '--request-timeout=5s']);
    if (code === 0) return { kubectl, close };
    if (performance.now() > deadline) {
      const log = readFileSync(serverLog, 'utf8').slice(-2000);
      await close();
      throw new Error(`the API server is not ready after 90 s: ${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
