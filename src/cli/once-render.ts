import type { ProbeOutcome } from '../probe/outcome.ts';
import type { FinishedProbe } from '../record.ts';
import { CAUSE_MEANING, describeEvidence } from './once-evidence.ts';
import { drawStrip } from './once-strip.ts';
import { createStyle, humanCount, humanSeconds, type Style } from './style.ts';
import { indent } from './wrap.ts';

/** How a probe is shown. */
export interface OnceView {
  readonly finished: FinishedProbe;
  /** Without user, password and query. */
  readonly url: string;
  /** Profile settings worth repeating: what was asked for. */
  readonly asked: { readonly promptTokens: number; readonly maxTokens: number; readonly prefix: string };
  /** What was found out about the endpoint, a line each. */
  readonly findings: readonly string[];
}

export interface RenderOptions {
  readonly columns: number;
  readonly colour: boolean;
}

const plural = (count: number, what: string): string => `${humanCount(count)} ${what}${count === 1 ? '' : 's'}`;

// Names that a server gives itself must not steer the terminal.
const plain = (text: string): string => text.replace(/\p{Cc}/gu, '?');

function title({ finished, url }: OnceView, width: number, style: Style): readonly string[] {
  const { outcome, engine } = finished;
  const name = engine === null ? 'unknown' : `${engine.name}${engine.version === null ? '' : ` ${engine.version}`}`;
  const lines = indent('', plain(`model ${outcome.model}, API ${outcome.api}, engine ${name}`), width);
  return [style.strong(url), ...lines.map((line) => style.faint(line))];
}

function verdict(outcome: ProbeOutcome, width: number, style: Style): readonly string[] {
  if (outcome.outcome === 'failed') {
    const { reason, side, stage, message } = outcome.failure;
    const lines = indent('        ', message, width);
    return [`${style.bad('FAILED')}  ${style.strong(reason)} (side: ${side}, stage: ${stage})`, ...lines];
  }
  const tokens = outcome.outputTokens === null ? '' : ` ${plural(outcome.outputTokens, 'token')}`;
  const first = outcome.ttftSeconds === null ? '' : `, the first after ${humanSeconds(outcome.ttftSeconds)}`;
  const all = outcome.durationSeconds === null ? '' : ` in ${humanSeconds(outcome.durationSeconds)}`;
  return [`${style.good('GOOD')}   ${tokens}${all}${first}`];
}

/** Phases before and instants after the request was written, one line each; what did not happen is left out. */
function steps(outcome: ProbeOutcome): readonly string[] {
  const { phases } = outcome;
  const line = (name: string, seconds: number | null, note = ''): readonly string[] =>
    seconds === null
      ? []
      : [`  ${name.padEnd(20)}${humanSeconds(seconds).padStart(9)}${note === '' ? '' : `   ${note}`}`];
  const reused = outcome.connection === 'reused' ? ['  connection reused'] : [];
  const content = outcome.ttfcSeconds === outcome.ttftSeconds ? null : outcome.ttfcSeconds;
  const last = outcome.timeline.findLast((entry) => entry.kind === 'token')?.atSeconds ?? null;
  const end = outcome.timeline.find((entry) => entry.kind === 'terminal')?.atSeconds ?? null;
  return [
    ...reused,
    ...line('resolve name', phases.dns, 'before the request'),
    ...line('connect', phases.tcp, 'before the request'),
    ...line('TLS handshake', phases.tls, 'before the request'),
    ...line('request written', phases.write),
    ...line('response headers', phases.headers, outcome.httpStatus === null ? '' : `HTTP ${outcome.httpStatus}`),
    ...line('first event', outcome.ttfeSeconds),
    ...line('first token', outcome.ttftSeconds, 'TTFT'),
    ...line('first visible text', content, 'the model reasoned before'),
    ...line('last token', last),
    ...line('terminal marker', end, outcome.finishReason === null ? '' : `finish reason ${outcome.finishReason}`),
  ];
}

function strip(outcome: ProbeOutcome, width: number, style: Style): readonly string[] {
  const drawn = drawStrip(outcome, width - 4);
  if (drawn === null) return [];
  const shown = outcome.timeline.filter((entry) => entry.kind === 'token').length;
  const left = outcome.tokenChunks > shown ? [`  (${shown} of ${outcome.tokenChunks} token chunks are drawn)`] : [];
  return [
    '',
    `  ${drawn.marks}`,
    `  ${style.strong(drawn.tokens)}`,
    `  ${style.faint(drawn.scale)}`,
    ...indent('  ', drawn.legend, width).map((line) => style.faint(line)),
    ...left,
  ];
}

function figures(outcome: ProbeOutcome, width: number): readonly string[] {
  const value = (name: string, seconds: number | null): string =>
    `${name} ${seconds === null ? 'none' : humanSeconds(seconds)}`;
  const rate =
    outcome.tpotSeconds === null || outcome.tpotSeconds <= 0
      ? ''
      : ` (${(1 / outcome.tpotSeconds).toFixed(1)} tokens a second)`;
  return indent(
    '  ',
    `${value('TTFT', outcome.ttftSeconds)}, ${value('TPOT', outcome.tpotSeconds)}${rate}, ${value('longest gap', outcome.longestGapSeconds)}`,
    width,
  );
}

function tokens({ finished, asked }: OnceView, width: number): readonly string[] {
  const { outcome } = finished;
  const cached =
    outcome.cachedPromptTokens === null ? '' : `, ${humanCount(outcome.cachedPromptTokens)} of them cached`;
  const prompt = outcome.promptTokens === null ? 'not told' : plural(outcome.promptTokens, 'token') + cached;
  const source = outcome.tokenSource === null ? '' : `, counted by ${outcome.tokenSource}`;
  const reasoning = outcome.reasoningTokens === null ? '' : `, ${humanCount(outcome.reasoningTokens)} for reasoning`;
  const output =
    outcome.outputTokens === null
      ? 'none'
      : `${plural(outcome.outputTokens, 'token')} in ${plural(outcome.tokenChunks, 'chunk')}${reasoning}${source}`;
  return [
    ...indent('  prompt: ', `${prompt} (asked for ${humanCount(asked.promptTokens)}, prefix ${asked.prefix})`, width),
    ...indent('  output: ', `${output} (at most ${humanCount(asked.maxTokens)})`, width),
  ];
}

/** Things that change how the figures are to be read. */
function notes(outcome: ProbeOutcome, width: number, style: Style): readonly string[] {
  const late = outcome.eventLoopDelaySeconds === null ? '' : ` by ${humanSeconds(outcome.eventLoopDelaySeconds)}`;
  const found: readonly (string | false)[] = [
    outcome.buffered && 'the answer came in lumps (a proxy that buffers?): gaps and TPOT do not describe the engine',
    outcome.disturbed && `this program was late${late} during the probe: its times are not to be trusted`,
    outcome.fallback && 'a gateway answered with another model than the one asked for',
    outcome.compressed && 'the answer was compressed although that was not asked for: small events may be held back',
    outcome.retriedStaleConnection &&
      'the first connection was closed by the other side before a byte came; asked again',
    outcome.nonconformingEvents > 0 && `${plural(outcome.nonconformingEvents, 'event')} did not conform to the API`,
    outcome.refusedParameters.length > 0 &&
      `parameters that the endpoint refuses: ${outcome.refusedParameters.join(', ')}`,
    outcome.retryAfterSeconds !== null &&
      `the endpoint asks to be left alone for ${humanSeconds(outcome.retryAfterSeconds)}`,
  ];
  return found
    .filter((note) => note !== false)
    .flatMap((note) => indent('  note: ', note, width).map((line) => style.warn(line)));
}

function cause({ diagnosis }: FinishedProbe, width: number, style: Style): readonly string[] {
  if (diagnosis === null) return [];
  const meaning = `${diagnosis.cause}: ${CAUSE_MEANING[diagnosis.cause]}`;
  return [
    '',
    ...indent('  cause: ', meaning, width).map((line) => style.warn(line)),
    ...indent('  seen:  ', describeEvidence(diagnosis.evidence).join(', '), width),
  ];
}

const spaced = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines]);

/**
 * One probe as a person reads it in a terminal: verdict first, then where the time went, drawn to scale, then the
 * figures and the cause. Pure; fits into `columns` (at least 60), and says everything without colour.
 */
export function renderOnce(view: OnceView, options: RenderOptions): string {
  const width = Math.min(Math.max(options.columns, 60), 120);
  const style = createStyle(options.colour);
  const { outcome } = view.finished;
  const lines = [
    ...title(view, width, style),
    '',
    ...verdict(outcome, width, style),
    ...spaced(steps(outcome)),
    ...strip(outcome, width, style),
    '',
    ...figures(outcome, width),
    ...tokens(view, width),
    ...notes(outcome, width, style),
    ...cause(view.finished, width, style),
    ...(view.findings.length === 0
      ? []
      : ['', '  asked the endpoint:', ...view.findings.flatMap((line) => indent('  - ', plain(line), width))]),
  ];
  return lines.map((line) => line.trimEnd()).join('\n');
}
