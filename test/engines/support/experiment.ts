import { type ProgramOptions, programJson } from './program.ts';

/** `inference-probe load|sweep --json` with the shipped bundle: its exit code and the summary that it printed. */
export async function experiment<Summary>(
  args: readonly string[],
  options: ProgramOptions,
): Promise<{ exitCode: number | null; summary: Summary }> {
  const { exitCode, value } = await programJson<Summary>([...args, '--yes', '--json'], options);
  return { exitCode, summary: value };
}
