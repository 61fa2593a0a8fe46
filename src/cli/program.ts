import { Command, CommanderError, Option } from 'commander';
import { nearest } from '../config/suggest.ts';
import { ProbeExporterError } from '../errors.ts';
import { WORKER_COMMAND } from '../experiment/worker-command.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../log.ts';
import { SIM_FLAGS } from '../sim/flags.ts';
import { buildVersion } from '../version.ts';
import type { CompareFlags } from './compare.ts';
import type { ConfigFlags } from './config-source.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';
import { withLoadFlags } from './load-flags.ts';
import { withCompareFlags, withSweepFlags } from './sweep-flags.ts';

type Action<Flags> = (flags: Flags, context: CliContext) => Promise<ExitCode>;

interface ServeFlags extends ConfigFlags {
  readonly 'config.check'?: true;
}

/** Each command's code is loaded when it is wanted, so that the sidecar starts without that of the others. */
const COMMANDS = {
  serve: async () => (await import('./serve.ts')).serve,
  check: async () => (await import('./check.ts')).check,
  once: async () => (await import('./once.ts')).once,
  simulate: async () => (await import('./simulate.ts')).simulate,
  demo: async () => (await import('./demo.ts')).demo,
  load: async () => (await import('./load.ts')).load,
  sweep: async () => (await import('./sweep.ts')).sweep,
  compare: async () => (await import('./compare.ts')).compare,
  report: async () => (await import('./report.ts')).report,
  loadWorker: async () => (await import('./load-worker.ts')).loadWorker,
};

/** In the manner of Prometheus' own programs. */
function versionText(): string {
  const { version, revision } = buildVersion();
  return `inference-probe, version ${version} (revision: ${revision})\n  node version: ${process.version}\n  platform:     ${process.platform}/${process.arch}`;
}

const listenAddress = (): Option =>
  new Option('--web.listen-address <address>', 'where to listen: host:port, :port or [v6]:port (default :20061)');

/** Flags of every command that reads a configuration. */
function withConfigFlags(command: Command): Command {
  return command
    .option('--config.file <path>', 'configuration file; without one, INFERENCE_PROBE_ variables describe one target')
    .addOption(listenAddress())
    .option('--web.telemetry-path <path>', 'path of the metrics (default /metrics)')
    .option('--web.config.file <path>', 'TLS and users of the own endpoints, as in the Prometheus exporter toolkit')
    .option('--log.level <level>', `least severe level that is written: ${LOG_LEVELS.join(', ')} (default info)`)
    .option('--log.format <format>', `${LOG_FORMATS.join(' or ')} (default json)`);
}

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

function withOnceFlags(command: Command): Command {
  return command
    .option('--url <url>', 'base URL of the endpoint (default http://127.0.0.1:8000)')
    .option('--model <name>', 'model to ask for (default: the first that is listed)')
    .option('--api <name>', 'completions, chat, responses, messages, ... (default: found by asking)')
    .option('--engine <name>', 'vllm, sglang, ... (default: found by asking)')
    .option('--api-key-file <path>', 'file that holds the key')
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--metrics-url <url>', "the engine's metrics page (default: found by asking)")
    .option('--header <"Name: value">', 'further request header; may be repeated', collect)
    .option('--prompt-tokens <n>', 'size of the prompt (default 128)')
    .option('--max-tokens <n>', 'most output tokens (default 32)')
    .option('--prompt <text>', 'a fixed prompt instead of a generated one')
    .option('--prefix <kind>', 'unique: pay the whole prefill; shared: a warm prefix (default unique)')
    .option('--connection <kind>', 'reuse or fresh (default reuse)')
    .option('--timeout <duration>', 'deadline of the whole probe, such as 30s (default 60s)')
    .option('--ca-file <path>', 'certificate authorities to trust')
    .option('--insecure', "do not verify the server's certificate")
    .option('--config.file <path>', 'probe a target of this configuration instead of --url')
    .option('--target <name>', 'which target of the configuration (default: the first)')
    .option('--profile <name>', 'which of its profiles (default: the first)')
    .option('--json', 'print the record of the probe as one line of JSON')
    .option('--verbose', 'say what was asked of the endpoint and what it answered');
}

function withSimulatorFlags(command: Command, skipped: readonly string[] = []): Command {
  for (const { name, argument, meaning, defaultText } of SIM_FLAGS) {
    if (skipped.includes(name)) continue;
    command.option(`--${name} ${argument}`, defaultText === '' ? meaning : `${meaning} (default ${defaultText})`);
  }
  return command;
}

/** Values of the simulator's flags under their own names; commander has camel-cased them. */
function simulatorValues(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, string | undefined>> {
  const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(SIM_FLAGS.map(({ name }) => [name, flags[camel(name)] as string | undefined]));
}

/**
 * The command line.
 *
 * @param done gets the exit code of the command that ran
 */
function buildProgram(context: CliContext, done: (code: ExitCode) => void): Command {
  const program = new Command('inference-probe');
  const run =
    <Flags>(
      load: () => Promise<Action<Flags>>,
      prepare: (flags: Record<string, unknown>) => Flags = (flags) => flags as Flags,
    ) =>
    async (flags: Record<string, unknown>): Promise<void> => {
      const action = await load();
      done(await action(prepare(flags), context));
    };
  program
    .description('Prometheus exporter for LLM inference endpoints: streaming probes that time every token')
    .version(versionText(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    });

  withConfigFlags(program.command('serve', { isDefault: true }))
    .description('probe and export (the default command)')
    .option('--config.check', 'check the configuration and exit')
    .action(
      run(async () => {
        const [serve, check] = [await COMMANDS.serve(), await COMMANDS.check()];
        return (flags: ServeFlags, to: CliContext) => (flags['config.check'] ? check(flags, to) : serve(flags, to));
      }),
    );
  withConfigFlags(program.command('check'))
    .description('say whether a configuration can be used, what is weak about it, and what it will cost')
    .option('--online', 'ask the endpoints too; nothing is made to generate')
    .action(run(COMMANDS.check));
  withOnceFlags(program.command('once'))
    .description('one probe, shown as a timeline; exits 0 when it was good, 1 when it failed, 2 for wrong usage')
    .action(run(COMMANDS.once));
  withSimulatorFlags(program.command('simulate'))
    .description('a simulated engine in the shape of vLLM')
    .action(run(COMMANDS.simulate, simulatorValues));
  withSimulatorFlags(program.command('demo').addOption(listenAddress()), ['host'])
    .option('--log.level <level>', `least severe level that is written: ${LOG_LEVELS.join(', ')} (default info)`)
    .description('a simulated engine under changing load, with the exporter beside it')
    .action(run(COMMANDS.demo, (flags) => ({ ...flags, sim: simulatorValues(flags) })));
  withLoadFlags(program.command('load'))
    .description(
      'load an endpoint at one level and measure it; exits 0 for a result, 1 for a partial one, 2 for wrong usage',
    )
    .action(run(COMMANDS.load));
  withSweepFlags(program.command('sweep'))
    .description('find the knee, over requests in flight or over a start parameter of the engine')
    .action(run(COMMANDS.sweep));
  withCompareFlags(program.command('compare').argument('<file>', 'experiment file (YAML)'))
    .description('compare engines and switches as an experiment file says')
    .action(async (file: string, flags: CompareFlags) => done(await (await COMMANDS.compare())(file, flags, context)));
  program
    .command('report')
    .argument('<dir>', 'folder of a run, a sweep or a comparison')
    .description('write the report of a folder anew, from its records alone')
    .action(async (folder: string) => done(await (await COMMANDS.report())(folder, context)));
  program.command(WORKER_COMMAND, { hidden: true }).action(run(COMMANDS.loadWorker));
  return program;
}

const GLOBAL_FLAGS = ['--version', '--help', '-h'];

/** Commander would hand an unknown command to `serve` and complain of too many arguments. */
function checkCommand(word: string, program: Command): void {
  const names = [...program.commands.map((command) => command.name()), 'help'];
  if (word.startsWith('-') || names.includes(word)) return;
  // What the program starts by itself is no advice for people.
  const offered = names.filter((name) => name !== WORKER_COMMAND);
  const near = nearest(word, offered);
  const advice = near === null ? `there are ${offered.join(', ')}` : `did you mean ${near}?`;
  throw new ProbeExporterError('USAGE', `${JSON.stringify(word)} is not a command; ${advice}`);
}

/** Exit code of an error that a command threw, after telling it; anything unknown is thrown on. */
function tell(error: unknown, context: CliContext): ExitCode {
  // Commander has said what there is to say: help, version, or what is wrong with the command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (!(error instanceof ProbeExporterError) || error.code === 'INVARIANT') throw error;
  context.err(`inference-probe: ${error.message}`);
  return error.code === 'USAGE' ? EXIT.usage : EXIT.failed;
}

/**
 * Runs a command line.
 *
 * @param argv without the names of node and of the script
 * @returns the exit code
 */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = buildProgram(context, (result) => {
    code = result;
  });
  const [first = ''] = argv;
  // Said out loud, because commander suggests nothing for a mistyped flag of a default command.
  const words = first === '' || (first.startsWith('-') && !GLOBAL_FLAGS.includes(first)) ? ['serve', ...argv] : argv;
  try {
    checkCommand(words[0] ?? '', program);
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    return tell(error, context);
  }
}
