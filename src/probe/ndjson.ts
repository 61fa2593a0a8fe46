import {
  createBoundedDecoder,
  type Framing,
  type FramingFault,
  type FramingHandler,
  type FramingLimits,
} from './framing.ts';

/** One JSON object a line (Ollama). Empty lines are passed over; a final line without its LF counts. */
export function createNdjsonFraming(limits: FramingLimits, handler: FramingHandler): Framing {
  const decoder = createBoundedDecoder(limits.streamBytes);
  // Fragments of an open line, joined once when it ends: appending to one string for each read would be quadratic.
  const open: string[] = [];
  let openLength = 0;
  let fault: FramingFault | null = null;

  function line(text: string): void {
    open.push(text);
    const whole = open.length === 1 ? text : open.join('');
    open.length = 0;
    openLength = 0;
    if (whole.length > limits.eventBytes) fault = 'event_too_large';
    else if (whole.trim() !== '') handler.onEvent(whole, undefined);
  }

  function feed(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1 && fault === null; end = text.indexOf('\n', start)) {
      line(text.slice(start, end));
      start = end + 1;
    }
    if (fault !== null || start === text.length) return;
    open.push(start === 0 ? text : text.slice(start));
    openLength += text.length - start;
    if (openLength > limits.eventBytes) fault = 'event_too_large';
  }

  return {
    push(bytes) {
      if (fault !== null) return;
      feed(decoder.decode(bytes));
      if (decoder.full && fault === null) fault = 'stream_too_large';
    },
    end() {
      const rest = decoder.end();
      if (fault === null) feed(`${rest}\n`);
      return rest !== '';
    },
    get fault() {
      return fault;
    },
  };
}
