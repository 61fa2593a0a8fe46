import type { CliContext } from './cli/context.ts';
import { runCli } from './cli/program.ts';
import { systemClock } from './clock.ts';

/** SIGTERM and SIGINT ask for an end in good order; whoever asks twice does not want to wait for it. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const ask = (): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  // As PID 1 of a container the process gets no default handling: without these it could only be killed.
  process.on('SIGTERM', ask);
  process.on('SIGINT', ask);
  return stop.signal;
}

function onHangup(callback: () => void): () => void {
  process.on('SIGHUP', callback);
  return () => process.off('SIGHUP', callback);
}

async function ask(question: string, stop: AbortSignal): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await terminal.question(question, { signal: stop }));
  } catch {
    // Interrupted, or the end of the input.
    return false;
  } finally {
    terminal.close();
  }
}

// The reader of a pipe may have seen enough (`| head`), and the disk behind a log may be full: output is lost then, and
// nothing else.
const LOST_OUTPUT: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ENOSPC', 'EDQUOT', 'EIO']);
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!LOST_OUTPUT.has(error.code)) throw error;
  });
}

const stop = stopSignal();
const context: CliContext = {
  environment: process.env,
  clock: systemClock(),
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  terminal: {
    // https://no-color.org: any value but an empty one counts.
    colour: process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb',
    // A terminal that does not know its width says 0.
    columns: process.stdout.columns || 80,
  },
  stop,
  ...(process.stderr.isTTY === true && {
    status: (line) => void process.stderr.write(`\r\u001b[K${line ?? ''}`),
  }),
  ...(process.stdin.isTTY === true && process.stderr.isTTY === true && { confirm: (question) => ask(question, stop) }),
  onHangup,
};

const code = await runCli(process.argv.slice(2), context);
// Output to a pipe may still be on its way; an empty write calls back when it has gone.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))),
);
process.exit(code);
