import { ProbeExporterError } from '../errors.ts';
import type { CliContext } from './context.ts';

/** A disk that takes no more ends an experiment in good order: what is complete is kept, and told. */
export interface DiskGuard {
  /** Runs `work`; tells that the disk failed. Other errors are thrown on. */
  run(work: () => Promise<void> | void): Promise<void>;
  failed(): boolean;
}

export function createDiskGuard(folder: string, context: Pick<CliContext, 'err'>): DiskGuard {
  let failed = false;
  return {
    failed: () => failed,
    async run(work) {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof ProbeExporterError) || error.code !== 'DISK_FAILED') throw error;
        context.err(`inference-probe: ${error.message}`);
        if (!failed) context.err(`ended early: free some space; the same command with --out ${folder} goes on`);
        failed = true;
      }
    },
  };
}
