import { type MonotonicInstant, monotonicInstant } from '../units.ts';
import type { ReadingLimits } from './apis/api.ts';
import { errorFromField } from './error-object.ts';
import { createEventFacts, type Interpreter } from './event-facts.ts';
import type { FinishReason } from './finish-reason.ts';
import type { Framing, FramingHandler, FramingLimits } from './framing.ts';
import type { ForeignForm, ReadingProgress, ReadingResult, StreamErrorObject, StreamReading } from './reading.ts';
import { createReadingSummary } from './reading-summary.ts';
import { createStrangeLines } from './strange-lines.ts';
import { createTextDigest } from './text-digest.ts';
import { createTimeline, type Timeline } from './timeline.ts';
import { createTokenTiming } from './token-timing.ts';
import { createUsageTotals } from './usage.ts';

export interface StreamReadingOptions {
  readonly limits: ReadingLimits;
  readonly framing: (limits: FramingLimits, handler: FramingHandler) => Framing;
  readonly interpret: Interpreter;
  /** Request handed to the socket; only the buffered rule needs it. */
  readonly requestAt: MonotonicInstant | null;
}

/**
 * The reading that all APIs share: framing cuts, the interpreter says what an event means, this keeps the account. A
 * class, as one is made for each stream: its methods are compiled once, not bound anew each time.
 */
class Reading implements StreamReading, FramingHandler {
  private readonly interpret: Interpreter;
  private readonly requestAt: MonotonicInstant | null;
  private readonly hashText: boolean;
  private readonly facts = createEventFacts();
  private readonly timing = createTokenTiming();
  private readonly usage = createUsageTotals();
  private readonly content = createTextDigest();
  private readonly reasoning = createTextDigest();
  private readonly strangeLines = createStrangeLines();
  private readonly timeline: Timeline;
  private readonly framing: Framing;

  private now = monotonicInstant(0);
  private firstEventAt: MonotonicInstant | null = null;
  private firstContentAt: MonotonicInstant | null = null;
  private terminalAt: MonotonicInstant | null = null;
  private finishReason: FinishReason | null = null;
  private error: StreamErrorObject | null = null;
  private complete = false;
  private events = 0;
  private newTokenChunks = 0;
  private nonconformingEvents = 0;
  private lostEvents = 0;
  private keepAlives = 0;
  /** The last event was words and no object. */
  private lastWords: string | null = null;
  private emptyChunks = 0;
  private endTakenBack = false;
  private foreignChoices = false;
  private foreignForm: ForeignForm | null = null;
  /** Events of which nothing belongs to this API; keep-alives in any form are none. */
  private strangeEvents = 0;
  /** The body is over and its unfinished last event is being read: what cannot be read now was cut. */
  private releasing = false;
  private cut = false;

  constructor({ limits, framing, interpret, requestAt }: StreamReadingOptions) {
    this.interpret = interpret;
    this.requestAt = requestAt;
    this.hashText = limits.hashText ?? true;
    this.timeline = createTimeline(limits.timelineEntries);
    this.framing = framing(limits, this);
  }

  private stopped(): boolean {
    return this.complete || this.error !== null;
  }

  onEvent(data: string, event: string | undefined): void {
    if (this.stopped()) return;
    this.strangeLines.clear();
    this.facts.clear();
    this.interpret(this.facts, data, event);
    if (this.releasing && this.facts.isUnreadable) this.cut = true;
    else this.account();
  }

  onComment(): void {
    if (this.stopped()) return;
    this.keepAlives += 1;
    this.timeline.add(this.now, 'comment', 0);
  }

  onUnknownField(name: string, value: string): void {
    if (this.stopped()) return;
    // Some llama.cpp builds report failures in a field of this name, which a standard parser passes over.
    const found = name === 'error' ? errorFromField(value) : this.strangeLines.error(name, value);
    if (this.releasing && found === null) {
      this.cut = true;
      if (this.events === 0) this.strangeEvents += 1;
      return;
    }
    this.facts.clear();
    if (found === null) this.facts.nonconforming(false);
    else this.facts.error(found);
    this.account();
  }

  private account(): void {
    const { facts } = this;
    this.events += 1;
    this.firstEventAt ??= this.now;
    if (facts.isPing) this.keepAlives += 1;
    if (facts.isNonconforming) this.nonconformingEvents += 1;
    if (facts.isNonconforming && !facts.isPing) this.strangeEvents += 1;
    this.foreignChoices ||= facts.isForeign;
    this.foreignForm ??= facts.foreignFormFound;
    const error = facts.errorFound ?? this.errorInLastWords();
    if (error !== null) {
      this.error = error;
      this.timeline.add(this.now, 'error', 0);
      return;
    }
    if (!facts.isPing) this.lastWords = facts.wordsFound;
    this.takeBackEnd();
    const isToken = this.terminalAt === null && this.accountTokens();
    if (facts.usageFound !== null) this.usage.add(facts.usageFound);
    const isTerminal = this.accountTerminal();
    if (!isToken && !isTerminal) this.timeline.add(this.now, facts.usageFound === null ? 'event' : 'usage', 0);
  }

  /** Engines that fail in the middle may say so in words, and then end the stream as ever (mistral.rs). */
  private errorInLastWords(): StreamErrorObject | null {
    const { facts, lastWords } = this;
    const ends = facts.isDone && facts.finishReason === null && this.terminalAt === null;
    return ends && lastWords !== null ? errorFromField(lastWords) : null;
  }

  /**
   * Some gateways write a finish reason into every chunk, or into an empty one at the beginning. Text that follows
   * shows that it was not the end; after the API's last marker nothing is read at all.
   */
  private takeBackEnd(): void {
    if (this.terminalAt === null || this.facts.chunkKind() !== 'text') return;
    this.terminalAt = null;
    this.finishReason = null;
    this.endTakenBack = true;
  }

  /** True for a sure token chunk. */
  private accountTokens(): boolean {
    if (this.facts.isUnreadable) this.lostEvents += 1;
    const kind = this.facts.chunkKind();
    if (kind === null) return false;
    if (kind === 'empty') this.emptyChunks += 1;
    if (this.facts.contentText !== '') {
      this.firstContentAt ??= this.now;
      this.content.add(this.facts.contentText);
    }
    if (this.facts.reasoningText !== '') this.reasoning.add(this.facts.reasoningText);
    const isToken = this.timing.chunk(this.now, kind, this.facts.countedTokens);
    if (isToken) {
      this.newTokenChunks += 1;
      this.timeline.add(this.now, 'token', this.timing.lastChunkTokens);
    }
    return isToken;
  }

  /** A stream without a token that held nothing else of this API either. The end marker is every API's. */
  private foreignFormOf(): ForeignForm | null {
    if (this.foreignForm !== null) return this.foreignForm;
    const known = this.events - this.nonconformingEvents - (this.terminalAt === null ? 0 : 1);
    return this.strangeEvents > 0 && known <= 0 ? 'other_api' : null;
  }

  /** True for the first terminal marker. Later ones only say that nothing follows. */
  private accountTerminal(): boolean {
    this.finishReason ??= this.facts.finishReason;
    this.complete ||= this.facts.isDone;
    if (this.terminalAt !== null || (this.facts.finishReason === null && !this.facts.isDone)) return false;
    this.terminalAt = this.now;
    this.timeline.add(this.now, 'terminal', 0);
    return true;
  }

  private progress(): ReadingProgress {
    const tokenChunks = this.newTokenChunks;
    this.newTokenChunks = 0;
    const failed = this.error !== null || this.framing.fault !== null;
    return { tokenChunks, terminal: this.terminalAt !== null, complete: this.complete, failed };
  }

  push(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress {
    this.now = at;
    if (!this.stopped()) this.framing.push(bytes);
    return this.progress();
  }

  /** What is released now arrived with the last bytes, not with the end. */
  end(): ReadingProgress {
    this.releasing = true;
    if (!this.stopped() && this.framing.end()) this.cut = true;
    return this.progress();
  }

  result(): ReadingResult {
    const fault = this.framing.fault ?? (this.cut && this.terminalAt === null ? 'cut_event' : null);
    return createReadingSummary({
      requestAt: this.requestAt,
      timing: this.timing,
      totals: this.usage.totals(),
      foreignChoices: this.foreignChoices,
      lostEvents: this.lostEvents,
      content: this.content,
      reasoning: this.reasoning,
      hashText: this.hashText,
      facts: {
        firstEventAt: this.firstEventAt,
        firstContentAt: this.firstContentAt,
        terminalAt: this.terminalAt,
        events: this.events,
        nonconformingEvents: this.nonconformingEvents,
        keepAlives: this.keepAlives,
        emptyChunks: this.emptyChunks,
        finishReason: this.finishReason,
        terminal: this.terminalAt !== null,
        endDoubtful: this.endTakenBack && !this.complete,
        error: this.error,
        fault,
        foreignForm: this.foreignFormOf(),
        timeline: this.timeline.entries(),
      },
    });
  }
}

export const createStreamReading = (options: StreamReadingOptions): StreamReading => new Reading(options);
