import { errorFromLine } from './error-object.ts';
import type { StreamErrorObject } from './reading.ts';

/** More than any error object needs. */
const LONGEST = 16 * 1024;

/** The lines between two events of a stream that are no fields of it, put together where they are one object. */
export interface StrangeLines {
  /** The error that this line is, or completes. A line without a colon has no value. */
  error(name: string, value: string): StreamErrorObject | null;
  /** An event came: what was begun is over. */
  clear(): void;
}

/** A class, as one is made for each stream. */
class Lines implements StrangeLines {
  private text = '';

  error(name: string, value: string): StreamErrorObject | null {
    const line = value === '' ? name : `${name}:${value}`;
    if (/^(?:\{|\[\s*(?:\{|$))/.test(line)) this.text = line;
    else if (this.text !== '') this.text += line;
    if (this.text.length > LONGEST) this.text = '';
    // Gemini writes its error object in the middle of a stream over several lines, of which the last is not indented.
    return /^[[\]{}]/.test(line) ? errorFromLine(this.text) : null;
  }

  clear(): void {
    this.text = '';
  }
}

export const createStrangeLines = (): StrangeLines => new Lines();
