import { createParser, type EventSourceParser, type ParseError } from 'eventsource-parser';
import {
  type BoundedDecoder,
  createBoundedDecoder,
  type Framing,
  type FramingFault,
  type FramingHandler,
  type FramingLimits,
} from './framing.ts';

/** The parser counts the field name of a line that is still open; an event at the limit must not fail for it. */
const FIELD_NAME_CHARACTERS = 8;

/**
 * Lines in a row that are no field of an event stream. The parser makes an error object for each, stack included, so
 * a few kilobytes of anything else would keep the event loop from its other work.
 */
const MOST_STRANGE_LINES = 100;

/**
 * The line that names an error. Dynamo, before April 2026, says with it and a comment that an answer has failed, without
 * any data; and an event without data is none by the standard.
 */
const ERROR_NAME = /^event: ?error\n/im;
const FIRST_ERROR_NAME = /^event: ?error\n/i;
const ERROR_NAMES = new RegExp(ERROR_NAME, 'gim');
const isErrorName = (event: string | undefined): boolean =>
  event !== undefined && event.length === 5 && event.toLowerCase() === 'error';
const LONGEST_NAME = 'event: error'.length;
/** More of a comment says nothing more. */
const LONGEST_COMMENT = 4096;
/** Stands for an open line that can no longer become that one. */
const OTHER_LINE = '-';

/** Most reads end in a line end, and hold no line that could name an error: those must cost next to nothing. */
const endsLine = (text: string): boolean => text.charCodeAt(text.length - 1) === 10;
const mayNameError = (text: string): boolean =>
  FIRST_ERROR_NAME.test(text) || (text.includes('\nevent:') && ERROR_NAME.test(text));

/** The beginning of the line that `text` leaves open, as far as it matters. */
function openLineAfter(before: string, text: string): string {
  const end = text.lastIndexOf('\n');
  const open = end === -1 ? before + text : text.slice(end + 1);
  return open.length <= LONGEST_NAME ? open : OTHER_LINE;
}

/** Thrown through the parser, which cannot be stopped otherwise. */
class NotAStream extends Error {}

/** Server-sent events, by the rules of the HTML standard except that a final event without its blank line counts. */
class SseFraming implements Framing {
  fault: FramingFault | null = null;
  private readonly decoder: BoundedDecoder;
  private readonly eventBytes: number;
  private readonly handler: FramingHandler;
  private readonly parser: EventSourceParser;
  private strangeLines = 0;
  private afterCr = false;
  /** The beginning of the line that is still open. */
  private openLine = '';
  private lastComment = '';

  constructor(limits: FramingLimits, handler: FramingHandler) {
    this.decoder = createBoundedDecoder(limits.streamBytes);
    this.eventBytes = limits.eventBytes;
    this.handler = handler;
    this.parser = createParser({
      maxBufferSize: limits.eventBytes + FIELD_NAME_CHARACTERS,
      onEvent: ({ data, event }) => this.event(data, event),
      onComment: (comment) => this.comment(comment),
      onError: (error) => this.refuse(error),
    });
  }

  push(bytes: Uint8Array): void {
    if (this.fault !== null) return;
    this.feed(this.lineEnds(this.decoder.decode(bytes)));
    if (this.decoder.full && this.fault === null) this.fault = 'stream_too_large';
  }

  end(): boolean {
    const rest = this.decoder.end();
    this.feed(`${rest}\n\n`);
    return rest !== '';
  }

  private event(data: string, event: string | undefined): void {
    this.strangeLines = 0;
    // Events after the one that is too large belong to a stream that nobody reads any more.
    if (this.fault !== null) return;
    if (data.length > this.eventBytes) this.fault = 'event_too_large';
    else this.handler.onEvent(isErrorName(event) ? data.trim() || this.lastComment : data, event);
    this.lastComment = '';
  }

  private comment(comment: string): void {
    if (this.fault !== null) return;
    if (comment.length > this.eventBytes) this.fault = 'event_too_large';
    else this.handler.onComment();
    this.lastComment = comment.slice(0, LONGEST_COMMENT).trim();
  }

  private refuse(error: ParseError): void {
    if (this.fault !== null) return;
    // After this one the parser throws when fed, so nothing may reach it any more.
    if (error.type === 'max-buffer-size-exceeded') this.fault = 'event_too_large';
    else if (error.type === 'unknown-field') this.strangeLine(error.field ?? '', error.value ?? '');
  }

  private strangeLine(name: string, value: string): void {
    this.handler.onUnknownField(name, value);
    this.strangeLines += 1;
    if (this.strangeLines >= MOST_STRANGE_LINES) throw new NotAStream();
  }

  private feed(text: string): void {
    if (text === '' || this.fault !== null) return;
    try {
      this.parser.feed(this.withErrorData(text));
    } catch (error) {
      if (!(error instanceof NotAStream)) throw error;
      this.fault = 'not_a_stream';
    }
  }

  /** Puts an empty data line behind the name of an error, so that the parser lets the event through. */
  private withErrorData(text: string): string {
    const before = this.openLine;
    this.openLine = endsLine(text) ? '' : openLineAfter(before, text);
    const lines = before === '' ? text : before + text;
    return mayNameError(lines) ? lines.replace(ERROR_NAMES, '$&data:\n').slice(before.length) : text;
  }

  /**
   * Turns every line end into LF. The parser would hold back the last event of a read that ends in CR until one more
   * byte comes, and stamp it with that byte's arrival; here the CR ends the line at once, and an LF that follows it in
   * the next read is dropped.
   */
  private lineEnds(text: string): string {
    // A read may hold no whole character yet.
    if (text === '') return text;
    const body = this.afterCr && text.charCodeAt(0) === 10 ? text.slice(1) : text;
    this.afterCr = body.charCodeAt(body.length - 1) === 13;
    return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
  }
}

export const createSseFraming = (limits: FramingLimits, handler: FramingHandler): Framing =>
  new SseFraming(limits, handler);
