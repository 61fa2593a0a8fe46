import { showUrl } from '../config/build/url.ts';
import { ConfigurationError, formatIssue } from '../config/report.ts';
import { ProbeExporterError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { toRecord } from '../record.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';
import { type OnceFlags, type OncePlan, planOnce } from './once-config.ts';
import { renderOnce } from './once-render.ts';
import { type OnceResult, runOnce } from './once-run.ts';

/** A refusal that the missing name of the model may well explain. */
function refusedForModel({ finished: { outcome }, modelKnown }: OnceResult): boolean {
  if (modelKnown || outcome.outcome === 'good') return false;
  return outcome.failure.reason === 'not_found' || outcome.failure.reason === 'bad_request';
}

function textOf(result: OnceResult, { target, profile }: OncePlan, flags: OnceFlags, context: CliContext): string {
  if (flags.json) return JSON.stringify(toRecord(result.finished));
  const failed = result.finished.outcome.outcome === 'failed';
  const { promptTokens, maxTokens, prefix } = profile.profile;
  const view = {
    finished: result.finished,
    url: showUrl(target.url),
    asked: { promptTokens, maxTokens, prefix },
    findings: failed || flags.verbose ? result.findings : [],
  };
  return renderOnce(view, context.terminal);
}

/** One probe, shown as a timeline or as its record. 0: good, 1: failed, 2: a wrong command line or configuration. */
export async function once(flags: OnceFlags, context: CliContext): Promise<ExitCode> {
  const { clock, stop } = context;
  // Standard output is for the result; what is worth a line on the way goes to standard error.
  const log = createLogger({ level: flags.verbose ? 'info' : 'error', format: 'logfmt' });
  let plan: OncePlan;
  try {
    plan = planOnce(flags, context.environment, log);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ProbeExporterError('USAGE', error.message);
  }
  for (const warning of plan.warnings) context.err(formatIssue(warning));
  const result = await runOnce(plan, { clock, log, signal: stop });
  if (result === null) {
    context.err('interrupted: the probe was ended and has no result');
    return EXIT.failed;
  }
  if (refusedForModel(result)) {
    throw new ProbeExporterError(
      'USAGE',
      `${showUrl(plan.target.url)} does not list its models: name one with --model`,
    );
  }
  context.out(textOf(result, plan, flags, context));
  return result.finished.outcome.outcome === 'good' ? EXIT.ok : EXIT.failed;
}
