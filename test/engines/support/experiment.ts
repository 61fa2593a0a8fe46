import { spawn } from 'node:child_process';
import { bundle } from './sidecar.ts';

export interface ExperimentOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly limitSeconds: number;
}

/**
 * `inference-probe load|sweep --json` with the shipped bundle: its exit code and the JSON it printed, read as `Summary`.
 * Rejects when it prints none, and ends it with SIGKILL after the limit.
 */
export function experiment<Summary>(
  args: readonly string[],
  options: ExperimentOptions,
): Promise<{ exitCode: number | null; summary: Summary }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bundle, ...args, '--yes', '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      timeout: options.limitSeconds * 1000,
      killSignal: 'SIGKILL',
    });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      try {
        resolve({ exitCode, summary: JSON.parse(output) as Summary });
      } catch {
        reject(new Error(`${args[0]} printed no summary (exit code ${exitCode}):\n${output}\n${errors.slice(-4000)}`));
      }
    });
  });
}
