import type { FinishReason } from './finish-reason.ts';
import type { ForeignForm, StreamErrorObject } from './reading.ts';
import type { ChunkKind } from './token-timing.ts';
import type { Usage } from './usage.ts';

/**
 * What one event of a stream means, in terms that all APIs share. An API's interpreter calls these; the reading puts
 * them together once the event is over, so their order within one event does not matter.
 */
export interface EventMeaning {
  /** Visible answer text. The empty string says that the chunk may stand for a token without text. */
  content(text: string): void;
  /** Text of the reasoning channel: a token, but no visible answer. */
  reasoning(text: string): void;
  /** Part of a tool call: a token, but no visible answer. */
  toolCall(): void;
  usage(usage: Usage): void;
  /** Running total of output tokens up to and with this event, for APIs that count outside a usage object. */
  counted(outputTokens: number): void;
  /** A finish reason: terminal, but usage may follow. */
  finish(reason: FinishReason): void;
  /** The API's last marker: terminal, and nothing follows. */
  done(): void;
  error(error: StreamErrorObject): void;
  /** A keep-alive in the form of an event. */
  ping(): void;
  /** Not what the API promises; `unreadable` when it may have been a token for all we know. */
  nonconforming(unreadable: boolean): void;
  /** Plain words where an object should be: unreadable, and an error if the stream ends with them and gives no reason. */
  words(text: string): void;
  /** Content of another choice than the first: usage then counts more than we read. */
  foreignChoice(): void;
  /** Generated text in the form of another API, or a whole answer in one event: not what was asked for. */
  foreignForm(form: ForeignForm): void;
}

/** Reads one event of an API. One per stream, so it may remember. Must not throw, whatever `data` is. */
export type Interpreter = (meaning: EventMeaning, data: string, event: string | undefined) => void;

/** The meaning of the event at hand; one object for a whole stream, cleared between events to spare allocations. */
export interface EventFacts extends EventMeaning {
  contentText: string;
  reasoningText: string;
  hasEmpty: boolean;
  hasToolCall: boolean;
  usageFound: Usage | null;
  countedTokens: number | null;
  finishReason: FinishReason | null;
  isDone: boolean;
  errorFound: StreamErrorObject | null;
  isPing: boolean;
  isNonconforming: boolean;
  isUnreadable: boolean;
  wordsFound: string | null;
  isForeign: boolean;
  foreignFormFound: ForeignForm | null;
  clear(): void;
  /** Null: nothing that could be a token. */
  chunkKind(): ChunkKind | null;
}

/** A class, as one is made for each stream: its methods are compiled once, not bound anew each time. */
class Facts implements EventFacts {
  contentText = '';
  reasoningText = '';
  hasEmpty = false;
  hasToolCall = false;
  usageFound: Usage | null = null;
  countedTokens: number | null = null;
  finishReason: FinishReason | null = null;
  isDone = false;
  errorFound: StreamErrorObject | null = null;
  isPing = false;
  isNonconforming = false;
  isUnreadable = false;
  wordsFound: string | null = null;
  isForeign = false;
  foreignFormFound: ForeignForm | null = null;

  clear(): void {
    this.contentText = '';
    this.reasoningText = '';
    this.hasEmpty = false;
    this.hasToolCall = false;
    this.usageFound = null;
    this.countedTokens = null;
    this.finishReason = null;
    this.isDone = false;
    this.errorFound = null;
    this.isPing = false;
    this.isNonconforming = false;
    this.isUnreadable = false;
    this.wordsFound = null;
    this.isForeign = false;
    this.foreignFormFound = null;
  }

  chunkKind(): ChunkKind | null {
    if (this.contentText !== '' || this.reasoningText !== '' || this.hasToolCall) return 'text';
    if (this.hasEmpty) return 'empty';
    return this.finishReason === null ? null : 'bare';
  }

  content(text: string): void {
    if (text === '') this.hasEmpty = true;
    else this.contentText += text;
  }

  reasoning(text: string): void {
    this.reasoningText += text;
  }

  toolCall(): void {
    this.hasToolCall = true;
  }

  usage(usage: Usage): void {
    this.usageFound = usage;
    this.countedTokens ??= usage.completionTokens;
  }

  counted(outputTokens: number): void {
    this.countedTokens = outputTokens;
  }

  finish(reason: FinishReason): void {
    this.finishReason ??= reason;
  }

  done(): void {
    this.isDone = true;
  }

  error(error: StreamErrorObject): void {
    this.errorFound = error;
  }

  ping(): void {
    this.isPing = true;
  }

  nonconforming(unreadable: boolean): void {
    this.isNonconforming = true;
    this.isUnreadable ||= unreadable;
  }

  words(text: string): void {
    this.wordsFound = text;
    this.nonconforming(true);
  }

  foreignChoice(): void {
    this.isForeign = true;
    this.isNonconforming = true;
  }

  foreignForm(form: ForeignForm): void {
    this.foreignFormFound = form;
    this.isNonconforming = true;
  }
}

export const createEventFacts = (): EventFacts => new Facts();
