import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1024 * 1024;
/** No record is as long. What a crash leaves can be, such as the zeros of a file whose end was never written. */
const LONGEST_LINE_BYTES = 64 * 1024 * 1024;
const LINE_END = 0x0a;

/** A line that is no record, in place of one that is too long. */
const TOO_LONG = '…';

/** The parts of one line, as they come. */
class Line {
  private parts: Buffer[] = [];
  private bytes = 0;

  add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > LONGEST_LINE_BYTES) this.parts = [];
    else if (part.length > 0) this.parts.push(Buffer.from(part));
  }

  take(): string {
    const text = this.bytes > LONGEST_LINE_BYTES ? TOO_LONG : Buffer.concat(this.parts).toString('utf8');
    this.parts = [];
    this.bytes = 0;
    return text;
  }
}

/** The lines of a file, without it ever being in memory as a whole: no string can be as long as the records of a day. */
export function* readLinesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const line = new Line();
  try {
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const filled = chunk.subarray(0, size);
      let from = 0;
      for (let end = filled.indexOf(LINE_END); end >= 0; end = filled.indexOf(LINE_END, from)) {
        line.add(filled.subarray(from, end));
        yield line.take();
        from = end + 1;
      }
      line.add(filled.subarray(from));
    }
    yield line.take();
  } finally {
    closeSync(file);
  }
}
