import { spawn } from 'node:child_process';
import type { ProbeRecord } from './record.ts';
import { bundle } from './sidecar.ts';

export interface OnceResult {
  readonly exitCode: number | null;
  readonly record: ProbeRecord;
}

/** `inference-probe once --json` with the shipped bundle. Rejects when it prints no record. */
export function once(...args: readonly string[]): Promise<OnceResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bundle, 'once', '--json', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A probe ends by its own deadlines long before; a program that does not end must not outlive the test.
      timeout: 120_000,
      killSignal: 'SIGKILL',
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      try {
        resolve({ exitCode, record: JSON.parse(output) as ProbeRecord });
      } catch {
        reject(new Error(`once printed no record (exit code ${exitCode}):\n${output}\n${errors}`));
      }
    });
  });
}
