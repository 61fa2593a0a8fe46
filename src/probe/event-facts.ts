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
  isForeign: boolean;
  foreignFormFound: ForeignForm | null;
  clear(): void;
  /** Null: nothing that could be a token. */
  chunkKind(): ChunkKind | null;
}

export function createEventFacts(): EventFacts {
  const facts: EventFacts = {
    contentText: '',
    reasoningText: '',
    hasEmpty: false,
    hasToolCall: false,
    usageFound: null,
    countedTokens: null,
    finishReason: null,
    isDone: false,
    errorFound: null,
    isPing: false,
    isNonconforming: false,
    isUnreadable: false,
    isForeign: false,
    foreignFormFound: null,
    clear() {
      facts.contentText = '';
      facts.reasoningText = '';
      facts.hasEmpty = false;
      facts.hasToolCall = false;
      facts.usageFound = null;
      facts.countedTokens = null;
      facts.finishReason = null;
      facts.isDone = false;
      facts.errorFound = null;
      facts.isPing = false;
      facts.isNonconforming = false;
      facts.isUnreadable = false;
      facts.isForeign = false;
      facts.foreignFormFound = null;
    },
    chunkKind() {
      if (facts.contentText !== '' || facts.reasoningText !== '' || facts.hasToolCall) return 'text';
      if (facts.hasEmpty) return 'empty';
      return facts.finishReason === null ? null : 'bare';
    },
    content(text) {
      if (text === '') facts.hasEmpty = true;
      else facts.contentText += text;
    },
    reasoning(text) {
      facts.reasoningText += text;
    },
    toolCall() {
      facts.hasToolCall = true;
    },
    usage(usage) {
      facts.usageFound = usage;
      facts.countedTokens ??= usage.completionTokens;
    },
    counted(outputTokens) {
      facts.countedTokens = outputTokens;
    },
    finish(reason) {
      facts.finishReason ??= reason;
    },
    done() {
      facts.isDone = true;
    },
    error(error) {
      facts.errorFound = error;
    },
    ping() {
      facts.isPing = true;
    },
    nonconforming(unreadable) {
      facts.isNonconforming = true;
      facts.isUnreadable ||= unreadable;
    },
    foreignChoice() {
      facts.isForeign = true;
      facts.isNonconforming = true;
    },
    foreignForm(form) {
      facts.foreignFormFound = form;
      facts.isNonconforming = true;
    },
  };
  return facts;
}
