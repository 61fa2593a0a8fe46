import { programJson } from './program.ts';
import type { ProbeRecord } from './record.ts';

export interface OnceResult {
  readonly exitCode: number | null;
  readonly record: ProbeRecord;
}

/** `inference-probe once --json` with the shipped bundle. Rejects when it prints no record. */
export async function once(...args: readonly string[]): Promise<OnceResult> {
  const { exitCode, value } = await programJson<ProbeRecord>(['once', '--json', ...args], { limitSeconds: 120 });
  return { exitCode, record: value };
}
