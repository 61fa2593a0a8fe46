import { createParser, type ParseError } from 'eventsource-parser';
import {
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

/** Thrown through the parser, which cannot be stopped otherwise. */
class NotAStream extends Error {}

/**
 * Turns every line end into LF. The parser would hold back the last event of a read that ends in CR until one more
 * byte comes, and stamp it with that byte's arrival; here the CR ends the line at once, and an LF that follows it in
 * the next read is dropped.
 */
function createLineEnds(): (text: string) => string {
  let afterCr = false;
  return (text) => {
    // A read may hold no whole character yet.
    if (text === '') return text;
    const body = afterCr && text.charCodeAt(0) === 10 ? text.slice(1) : text;
    afterCr = body.charCodeAt(body.length - 1) === 13;
    return body.includes('\r') ? body.replace(/\r\n?/g, '\n') : body;
  };
}

/** Server-sent events, by the rules of the HTML standard except that a final event without its blank line counts. */
export function createSseFraming(limits: FramingLimits, handler: FramingHandler): Framing {
  const decoder = createBoundedDecoder(limits.streamBytes);
  const lineEnds = createLineEnds();
  let fault: FramingFault | null = null;
  let strangeLines = 0;

  const parser = createParser({
    maxBufferSize: limits.eventBytes + FIELD_NAME_CHARACTERS,
    onEvent({ data, event }) {
      strangeLines = 0;
      // Events after the one that is too large belong to a stream that nobody reads any more.
      if (fault !== null) return;
      if (data.length > limits.eventBytes) fault = 'event_too_large';
      else handler.onEvent(data, event);
    },
    onComment(comment) {
      if (fault !== null) return;
      if (comment.length > limits.eventBytes) fault = 'event_too_large';
      else handler.onComment();
    },
    onError: (error) => refuse(error),
  });

  function refuse(error: ParseError): void {
    if (fault !== null) return;
    // After this one the parser throws when fed, so nothing may reach it any more.
    if (error.type === 'max-buffer-size-exceeded') fault = 'event_too_large';
    else if (error.type === 'unknown-field') strangeLine(error.field ?? '', error.value ?? '');
  }

  function strangeLine(name: string, value: string): void {
    handler.onUnknownField(name, value);
    strangeLines += 1;
    if (strangeLines >= MOST_STRANGE_LINES) throw new NotAStream();
  }

  function feed(text: string): void {
    if (text === '' || fault !== null) return;
    try {
      parser.feed(text);
    } catch (error) {
      if (!(error instanceof NotAStream)) throw error;
      fault = 'not_a_stream';
    }
  }

  return {
    push(bytes) {
      if (fault !== null) return;
      feed(lineEnds(decoder.decode(bytes)));
      if (decoder.full && fault === null) fault = 'stream_too_large';
    },
    end() {
      const rest = decoder.end();
      feed(`${rest}\n\n`);
      return rest !== '';
    },
    get fault() {
      return fault;
    },
  };
}
