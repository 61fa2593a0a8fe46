import type { Command } from 'commander';

/** Flags of the commands that load an endpoint, as commander gives them. */
export interface LoadFlags {
  readonly url?: string;
  readonly model?: string;
  readonly api?: string;
  readonly engine?: string;
  readonly apiKeyFile?: string;
  readonly apiKeyEnv?: string;
  readonly metricsUrl?: string;
  readonly header?: readonly string[];
  readonly caFile?: string;
  readonly insecure?: true;
  readonly concurrency?: string;
  readonly rate?: string;
  readonly arrival?: string;
  readonly duration?: string;
  readonly warmup?: string;
  readonly trim?: string;
  readonly timeout?: string;
  readonly inTokens?: string;
  readonly maxOut?: string;
  readonly prefixShared?: true;
  readonly prompts?: string;
  /** False with --no-metrics. */
  readonly metrics: boolean;
  readonly respectEos?: true;
  readonly slo?: string;
  readonly seed?: string;
  readonly workers?: string;
  readonly out?: string;
  readonly yes?: true;
  readonly json?: true;
  readonly verbose?: true;
}

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

/** Where the endpoint is, and how it is asked. */
export function withTargetFlags(command: Command): Command {
  return command
    .option('--url <url>', 'base URL of the endpoint (default http://127.0.0.1:8000)')
    .option('--model <name>', 'model to ask for (default: the first that is listed)')
    .option('--api <name>', 'completions, chat, responses, messages, ... (default: found by asking)')
    .option('--engine <name>', 'vllm, sglang, ... (default: found by asking)')
    .option('--api-key-file <path>', 'file that holds the key')
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--header <"Name: value">', 'further request header; may be repeated', collect)
    .option('--ca-file <path>', 'certificate authorities to trust')
    .option('--insecure', "do not verify the server's certificate")
    .option('--metrics-url <url>', "the engine's metrics page (default: found by asking)")
    .option('--no-metrics', "do not read the engine's metrics");
}

/** What is sent, how long, and what is made of it. */
export function withWindowFlags(command: Command): Command {
  return command
    .option('-d, --duration <seconds>', 'length of the window (default 120)')
    .option('--warmup <seconds>', 'longest warm-up; it ends when TTFT is steady; 0: none (default 30)')
    .option('--trim <seconds>', 'left out of the figures at each end of the window (default 10, a sixth if shorter)')
    .option('--timeout <seconds>', 'deadline of one request (default 300)')
    .option('--in-tokens <n>', "prompt tokens by the engine's own count (default 128)")
    .option('--max-out <n>', 'output tokens (default 128)')
    .option('--prefix-shared', 'the same prompt every time: shows what the prefix cache is worth')
    .option('--prompts <file>', 'prompts from a file, one a line, text or JSON, instead of made ones')
    .option('--respect-eos', 'let the model end its answers (default: ask for --max-out tokens always)')
    .option('--slo <list>', 'objectives for goodput, such as ttft=500ms,tpot=50ms,e2e=10s')
    .option('--seed <text>', 'decides prompts and arrivals (default: a new one each time)')
    .option('--workers <n>', 'threads that share the load (default 1)')
    .option('--out <dir>', 'folder for the records and the report (default: a new one below the current)')
    .option('--yes', 'do not ask before it starts')
    .option('--json', 'print the summary as one line of JSON')
    .option('--verbose', 'say what was asked of the endpoint and what it answered');
}

export function withLoadFlags(command: Command): Command {
  return withWindowFlags(
    withTargetFlags(command)
      .option('-c, --concurrency <n>', 'requests in flight (default 16); with --rate: at most (default 512)')
      .option('--rate <n>', 'open loop: requests a second on a timetable, whatever the endpoint does')
      .option('--arrival <kind>', 'timetable of --rate: poisson or constant (default poisson)'),
  );
}
