import { spawn } from 'node:child_process';
import { bundle } from './sidecar.ts';

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The program ends by its own deadlines long before; one that does not must not outlive the test. */
  readonly limitSeconds: number;
}

export interface Printed {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the shipped bundle to its end. */
export function program(args: readonly string[], options: ProgramOptions): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bundle, ...args], {
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
    child.once('close', (exitCode) => resolve({ exitCode, output, errors }));
  });
}

/** The same for what it prints as JSON, read as `T`. Rejects when it prints none. */
export async function programJson<T>(
  args: readonly string[],
  options: ProgramOptions,
): Promise<{ exitCode: number | null; value: T }> {
  const { exitCode, output, errors } = await program(args, options);
  try {
    return { exitCode, value: JSON.parse(output) as T };
  } catch {
    throw new Error(`${args[0]} printed no JSON (exit code ${exitCode}):\n${output}\n${errors.slice(-4000)}`);
  }
}
