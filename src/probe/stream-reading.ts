import { type MonotonicInstant, monotonicInstant } from '../units.ts';
import { errorFromField, errorFromLine } from './error-object.ts';
import { createEventFacts, type Interpreter } from './event-facts.ts';
import type { FinishReason } from './finish-reason.ts';
import type { Framing, FramingHandler, FramingLimits } from './framing.ts';
import type { ForeignForm, ReadingProgress, ReadingResult, StreamErrorObject, StreamReading } from './reading.ts';
import { createReadingSummary } from './reading-summary.ts';
import { createTextDigest } from './text-digest.ts';
import { createTimeline } from './timeline.ts';
import { createTokenTiming } from './token-timing.ts';
import { createUsageTotals } from './usage.ts';

export interface StreamReadingOptions {
  readonly limits: FramingLimits & { readonly timelineEntries: number };
  readonly framing: (limits: FramingLimits, handler: FramingHandler) => Framing;
  readonly interpret: Interpreter;
  /** Request handed to the socket; only the buffered rule needs it. */
  readonly requestAt: MonotonicInstant | null;
}

/** The reading that all APIs share: framing cuts, the interpreter says what an event means, this keeps the account. */
export function createStreamReading(options: StreamReadingOptions): StreamReading {
  const { interpret, limits, requestAt } = options;
  const facts = createEventFacts();
  const timing = createTokenTiming();
  const usage = createUsageTotals();
  const timeline = createTimeline(limits.timelineEntries);
  const content = createTextDigest();
  const reasoning = createTextDigest();
  const framing = options.framing(limits, { onEvent, onComment, onUnknownField });

  let now = monotonicInstant(0);
  let firstEventAt: MonotonicInstant | null = null;
  let firstContentAt: MonotonicInstant | null = null;
  let terminalAt: MonotonicInstant | null = null;
  let finishReason: FinishReason | null = null;
  let error: StreamErrorObject | null = null;
  let complete = false;
  let events = 0;
  let newTokenChunks = 0;
  let nonconformingEvents = 0;
  let lostEvents = 0;
  let keepAlives = 0;
  let emptyChunks = 0;
  let endTakenBack = false;
  let foreignChoices = false;
  let foreignForm: ForeignForm | null = null;
  /** Events of which nothing belongs to this API; keep-alives in any form are none. */
  let strangeEvents = 0;
  /** The body is over and its unfinished last event is being read: what cannot be read now was cut. */
  let releasing = false;
  let cut = false;

  const stopped = (): boolean => complete || error !== null;

  function onEvent(data: string, event: string | undefined): void {
    if (stopped()) return;
    facts.clear();
    interpret(facts, data, event);
    if (releasing && facts.isUnreadable) cut = true;
    else account();
  }

  function onComment(): void {
    if (stopped()) return;
    keepAlives += 1;
    timeline.add(now, 'comment', 0);
  }

  function onUnknownField(name: string, value: string): void {
    if (stopped()) return;
    // Some llama.cpp builds report failures in a field of this name, which a standard parser passes over.
    const found = name === 'error' ? errorFromField(value) : errorFromLine(`${name}:${value}`);
    if (releasing && found === null) {
      cut = true;
      if (events === 0) strangeEvents += 1;
      return;
    }
    facts.clear();
    if (found === null) facts.nonconforming(false);
    else facts.error(found);
    account();
  }

  function account(): void {
    events += 1;
    firstEventAt ??= now;
    if (facts.isPing) keepAlives += 1;
    if (facts.isNonconforming) nonconformingEvents += 1;
    if (facts.isNonconforming && !facts.isPing) strangeEvents += 1;
    foreignChoices ||= facts.isForeign;
    foreignForm ??= facts.foreignFormFound;
    if (facts.errorFound !== null) {
      error = facts.errorFound;
      timeline.add(now, 'error', 0);
      return;
    }
    takeBackEnd();
    const isToken = terminalAt === null && accountTokens();
    if (facts.usageFound !== null) usage.add(facts.usageFound);
    const isTerminal = accountTerminal();
    if (!isToken && !isTerminal) timeline.add(now, facts.usageFound === null ? 'event' : 'usage', 0);
  }

  /**
   * Some gateways write a finish reason into every chunk, or into an empty one at the beginning. Text that follows
   * shows that it was not the end; after the API's last marker nothing is read at all.
   */
  function takeBackEnd(): void {
    if (terminalAt === null || facts.chunkKind() !== 'text') return;
    terminalAt = null;
    finishReason = null;
    endTakenBack = true;
  }

  /** True for a sure token chunk. */
  function accountTokens(): boolean {
    if (facts.isUnreadable) lostEvents += 1;
    const kind = facts.chunkKind();
    if (kind === null) return false;
    if (kind === 'empty') emptyChunks += 1;
    if (facts.contentText !== '') {
      firstContentAt ??= now;
      content.add(facts.contentText);
    }
    if (facts.reasoningText !== '') reasoning.add(facts.reasoningText);
    const isToken = timing.chunk(now, kind, facts.countedTokens);
    if (isToken) {
      newTokenChunks += 1;
      timeline.add(now, 'token', timing.lastChunkTokens);
    }
    return isToken;
  }

  /** A stream without a token that held nothing else of this API either. The end marker is every API's. */
  function foreignFormOf(): ForeignForm | null {
    if (foreignForm !== null) return foreignForm;
    const known = events - nonconformingEvents - (terminalAt === null ? 0 : 1);
    return strangeEvents > 0 && known <= 0 ? 'other_api' : null;
  }

  /** True for the first terminal marker. Later ones only say that nothing follows. */
  function accountTerminal(): boolean {
    finishReason ??= facts.finishReason;
    complete ||= facts.isDone;
    if (terminalAt !== null || (facts.finishReason === null && !facts.isDone)) return false;
    terminalAt = now;
    timeline.add(now, 'terminal', 0);
    return true;
  }

  function progress(): ReadingProgress {
    const tokenChunks = newTokenChunks;
    newTokenChunks = 0;
    const failed = error !== null || framing.fault !== null;
    return { tokenChunks, terminal: terminalAt !== null, complete, failed };
  }

  function push(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress {
    now = at;
    if (!stopped()) framing.push(bytes);
    return progress();
  }

  /** What is released now arrived with the last bytes, not with the end. */
  function end(): ReadingProgress {
    releasing = true;
    if (!stopped() && framing.end()) cut = true;
    return progress();
  }

  function result(): ReadingResult {
    const fault = framing.fault ?? (cut && terminalAt === null ? 'cut_event' : null);
    return createReadingSummary({
      requestAt,
      timing,
      totals: usage.totals(),
      foreignChoices,
      lostEvents,
      content,
      reasoning,
      facts: {
        firstEventAt,
        firstContentAt,
        terminalAt,
        events,
        nonconformingEvents,
        keepAlives,
        emptyChunks,
        finishReason,
        terminal: terminalAt !== null,
        endDoubtful: endTakenBack && !complete,
        error,
        fault,
        foreignForm: foreignFormOf(),
        timeline: timeline.entries(),
      },
    });
  }

  return { push, end, result };
}
