import { createInterface } from 'node:readline/promises';
import { ProbeExporterError } from '../errors.ts';
import type { LoadProgress } from '../experiment/load-types.ts';
import type { CliContext } from './context.ts';
import { humanCount } from './style.ts';

/**
 * Shows a plan and, on a terminal, waits for a yes. Without a terminal nobody could answer: then starting the command
 * is the consent.
 *
 * @throws ProbeExporterError USAGE when the answer is not yes
 */
export async function confirmPlan(lines: readonly string[], yes: boolean, context: CliContext): Promise<void> {
  for (const line of lines) context.err(line);
  if (yes || process.stdin.isTTY !== true || process.stderr.isTTY !== true) return;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-C at the question is a no, too.
    const answer = await asking.question('Start? [y/N] ', { signal: context.stop }).catch(() => '');
    if (!/^y(es)?$/i.test(answer.trim())) throw new ProbeExporterError('USAGE', 'not started');
  } finally {
    asking.close();
  }
}

const duration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
};

/** The length of a plan, for people. */
export const planLength = (seconds: number): string =>
  seconds < 100 ? duration(seconds) : `${Math.ceil(seconds / 60)} minutes`;

export interface ProgressLine {
  say(text: string): void;
  update(progress: LoadProgress): void;
  end(): void;
}

// Without a terminal there is no line to write over, so one is written only now and then.
const QUIET_SECONDS = 15;

/** One line on standard error that is written over on a terminal. */
export function createProgressLine(context: CliContext): ProgressLine {
  const live = process.stderr.isTTY === true;
  let open = false;
  let spokenAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (open) process.stderr.write('\r\u001b[K');
    open = false;
  };
  return {
    say: (text) => {
      clear();
      context.err(text);
    },
    update: ({ phase, leftSeconds, inFlight, ended, failed, outputTokensPerSecond }) => {
      const text = `  ${phase}: ${duration(leftSeconds)} left, ${inFlight} in flight, ${humanCount(ended)} ended, ${humanCount(failed)} failed, ${humanCount(outputTokensPerSecond)} tokens/s`;
      if (live) {
        process.stderr.write(`\r\u001b[K${text.slice(0, context.terminal.columns - 1)}`);
        open = true;
        return;
      }
      const now = context.clock.monotonic();
      if (now - spokenAt < QUIET_SECONDS) return;
      spokenAt = now;
      context.err(text);
    },
    end: clear,
  };
}
