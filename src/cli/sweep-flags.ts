import type { Command } from 'commander';
import { withTargetFlags, withWindowFlags } from './load-flags.ts';

/** Flags of `sweep`. */
export function withSweepFlags(command: Command): Command {
  return withWindowFlags(
    withTargetFlags(command)
      .option('--levels <n,n,...>', 'requests in flight to try (default: doubling until overload)')
      .option('--from <n>', 'where doubling begins (default 1)')
      .option('--to <n>', 'where doubling ends at the latest (default 256)')
      .option('--start <command>', 'sweep a start parameter: the command of the engine, with {value} in it')
      .option('--values <n,n,...>', 'values for {value}')
      .option('-c, --concurrency <n>', 'requests in flight with --start (default 16)')
      .option('--ready-timeout <seconds>', 'longest start of the engine (default 600)')
      .option('--stop-timeout <seconds>', 'longest end of the engine before it is killed (default 30)')
      .option('--repeats <n>', 'runs of each level (default 3)')
      .option('--cooldown <seconds>', 'pause between runs (default 5)'),
  );
}

/** Flags of `compare`: what is measured is in its file. */
export function withCompareFlags(command: Command): Command {
  return command
    .option('--out <dir>', 'folder for the records and the report; one that is there is gone on with')
    .option('--workers <n>', 'threads that share the load (default 1)')
    .option('--timeout <seconds>', 'deadline of one request (default 300)')
    .option('--yes', 'do not ask before it starts')
    .option('--verbose', 'say what was asked of the endpoints and what they answered');
}
