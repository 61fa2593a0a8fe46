import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { type RunningProcess, startProcess } from './processes.ts';
import { tinyModel } from './tiny-model.ts';

/** A real engine that answers on the loopback interface. */
export interface RunningEngine {
  /** Base URL of its API, without a trailing slash. */
  readonly url: string;
  /** Its page of metrics. */
  readonly metricsUrl: string;
  readonly model: string;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Folder of the finished install. */
  readonly venv: string;
  /** Added to the usual arguments. */
  readonly args?: readonly string[];
  /** A core is left to the client that loads it. */
  readonly oneThread?: boolean;
}

const OFFLINE = {
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  DO_NOT_TRACK: '1',
  VLLM_NO_USAGE_STATS: '1',
  CUDA_VISIBLE_DEVICES: '',
} as const;

/** A check that never generates: true when `url` answers 200. */
function answers(url: string): () => Promise<boolean> {
  return async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  };
}

// An engine's threads wait by spinning, and a client on the same two cores then sees tokens half a second late. Linux
// shares the processor between sessions first, so that niceness alone would not help: this is also that of the session.
const YIELDING = 'echo 19 > /proc/self/autogroup; exec nice "$@"';

/** How vLLM is started on the CPU with random weights: it takes the processor time that nobody else wants. */
export function vllmCommand({ venv, args = [], oneThread = false }: EngineOptions, port: number) {
  const serve = [
    ...[join(venv, 'bin', 'vllm'), 'serve', tinyModel(venv), '--served-model-name', 'tiny', '--load-format', 'dummy'],
    ...['--dtype', 'float32', '--enforce-eager', '--host', '127.0.0.1', '--port', String(port)],
    ...args,
  ];
  return {
    command: 'sh',
    args: ['-c', YIELDING, 'sh', ...serve],
    env: { ...OFFLINE, VLLM_CPU_KVCACHE_SPACE: '1', ...(oneThread ? { VLLM_CPU_OMP_THREADS_BIND: '0' } : {}) },
  };
}

/** Ready within a minute on two free cores. */
export async function startVllm(options: EngineOptions): Promise<RunningEngine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const process = await startProcess({
    name: 'vllm',
    ...vllmCommand(options, port),
    ready: answers(`${url}/health`),
    readySeconds: 600,
    stopSeconds: 15,
  });
  return { url, metricsUrl: `${url}/metrics`, model: 'tiny', process, stop: process.stop };
}

/** SGLang on the CPU with random weights and a pool of 1024 tokens. */
export async function startSglang(options: EngineOptions): Promise<RunningEngine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const process = await startProcess({
    name: 'sglang',
    command: join(options.venv, 'bin', 'python'),
    args: [
      ...['-m', 'sglang.launch_server', '--model-path', tinyModel(options.venv), '--served-model-name', 'tiny'],
      ...['--load-format', 'dummy', '--dtype', 'float32', '--device', 'cpu', '--attention-backend', 'torch_native'],
      ...['--sampling-backend', 'pytorch', '--grammar-backend', 'none', '--disable-cuda-graph'],
      ...['--disable-overlap-schedule', '--enable-metrics', '--enable-cache-report', '--skip-server-warmup'],
      ...['--max-total-tokens', '1024', '--max-running-requests', '32', '--sleep-on-idle'],
      ...['--host', '127.0.0.1', '--port', String(port), ...(options.args ?? [])],
    ],
    env: { ...OFFLINE, SGLANG_USE_CPU_ENGINE: '1', OMP_NUM_THREADS: '1' },
    // Not /health: SGLang's makes a token.
    ready: answers(`${url}/v1/models`),
    readySeconds: 600,
    stopSeconds: 20,
  });
  return { url, metricsUrl: `${url}/metrics`, model: 'tiny', process, stop: process.stop };
}

/** llama.cpp's server with a real model of 270M parameters. */
export async function startLlamaCpp(options: EngineOptions & { readonly parallel?: number }): Promise<RunningEngine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = new URL('./llamacpp_server.py', import.meta.url).pathname;
  const process = await startProcess({
    name: 'llamacpp',
    command: join(options.venv, 'bin', 'python'),
    args: [script, join(options.venv, 'model.gguf'), String(port), String(options.parallel ?? 2), '4096'],
    ready: answers(`${url}/health`),
    readySeconds: 60,
    stopSeconds: 3,
  });
  return { url, metricsUrl: `${url}/metrics`, model: 'gemma3-270m', process, stop: process.stop };
}

/** Dynamo's real frontend over its simulated vLLM: two processes that find each other through a folder. */
export async function startDynamo(options: EngineOptions): Promise<RunningEngine> {
  const [port, systemPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const store = mkdtempSync(join(tmpdir(), 'inference-probe-dynamo-'));
  const python = join(options.venv, 'bin', 'python');
  const env = { ...OFFLINE, DYN_FILE_KV: store };
  const discovery = ['--discovery-backend', 'file', '--event-plane', 'zmq'];
  const parts: RunningProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(parts.map((part) => part.stop()));
    rmSync(store, { recursive: true, force: true });
  };
  try {
    parts.push(
      await startProcess({
        name: 'dynamo-mocker',
        command: python,
        args: [
          ...['-m', 'dynamo.mocker', '--model-path', tinyModel(options.venv), '--model-name', 'tiny', ...discovery],
          ...['--request-plane', 'tcp', '--num-gpu-blocks-override', '64', '--block-size', '16'],
          ...['--max-num-seqs', '16', '--max-model-len', '512', ...(options.args ?? [])],
        ],
        env: { ...env, DYN_SYSTEM_PORT: String(systemPort) },
        ready: answers(`http://127.0.0.1:${systemPort}/metrics`),
        readySeconds: 90,
        stopSeconds: 5,
      }),
    );
    const frontend = await startProcess({
      name: 'dynamo-frontend',
      command: python,
      args: ['-m', 'dynamo.frontend', '--http-host', '127.0.0.1', '--http-port', String(port), ...discovery],
      env,
      // The frontend answers before it has found the engine; a listed model means that both know each other.
      ready: async () => (await (await fetch(`${url}/v1/models`)).text()).includes('"tiny"'),
      readySeconds: 90,
      stopSeconds: 5,
    });
    parts.push(frontend);
    return { url, metricsUrl: `http://127.0.0.1:${systemPort}/metrics`, model: 'tiny', process: frontend, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
