import { type ExpositionFormat, nameEnd, parseSampleLine, type Sample } from './exposition-line.ts';

/** What was found on a metrics page. Only wanted families are held; the rest of the page is passed over. */
export interface ExpositionPage {
  /** Wanted samples by sample name, in page order, duplicates (same name and labels) left out: the first one counts. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** Declared types by family name; the first declaration counts. Declared does not mean that there is a sample. */
  readonly types: ReadonlyMap<string, string>;
  /** Every sample name on the page, wanted or not; bounded. */
  readonly names: ReadonlySet<string>;
  /** Lines that are no sample. Lines of families that nobody wants are not looked into. */
  readonly malformedLines: number;
  readonly sampleLines: number;
  readonly duplicates: number;
  /** `# EOF` was seen (means the end only in OpenMetrics). */
  readonly eof: boolean;
  /** Something followed an OpenMetrics `# EOF`; it was not read. */
  readonly dataAfterEof: boolean;
  /** The last line was closed by a line feed. Without one the page may have been cut. */
  readonly closed: boolean;
  /** Nothing that looks like a sample or a comment: HTML, JSON, or some other text. */
  readonly foreign: boolean;
  readonly empty: boolean;
}

export interface ExpositionOptions {
  readonly format: ExpositionFormat;
  /** Which sample names to hold. Asked once a run of equal names, so it may be a little slow. */
  readonly wants: (name: string) => boolean;
}

/** Reads a page piece by piece: any split of the text gives the same page. */
export interface ExpositionParser {
  feed(text: string): void;
  end(): ExpositionPage;
}

// The longest real line (an info metric with every attribute of a configuration) has some 3 KB.
const MAX_LINE = 256 * 1024;
const MAX_NAMES = 5_000;
const MAX_SAMPLES = 50_000;
// How many sample lines are looked into whatever their name, to tell a page from some other text.
const SNIFFED_LINES = 20;
const HASH = 0x23;
const OPEN = 0x7b;
const COMMENT = /^#[ \t]+(TYPE|EOF)(?:[ \t]+(?:"((?:[^"\\]|\\.)*)"|(\S+))[ \t]+(\S+))?[ \t]*$/;

/** The label set as one text, whatever its order on the page. Most writers sort, so that sorting again is rare. */
function seriesKey(sample: Sample): string {
  let key = '';
  let last = '';
  for (const [name, value] of sample.labels) {
    if (name < last) return sortedKey(sample);
    key += `${name}\u0001${value}\u0002`;
    last = name;
  }
  return key;
}

const sortedKey = (sample: Sample): string =>
  [...sample.labels]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}\u0001${value}\u0002`)
    .join('');

/** The state of one page; a class because it is fed over time. */
class PageParser implements ExpositionParser {
  private readonly options: ExpositionOptions;
  private readonly samples = new Map<string, Sample[]>();
  private readonly seen = new Map<string, Set<string>>();
  private readonly types = new Map<string, string>();
  private readonly names = new Set<string>();
  private rest = '';
  private overlong = false;
  private lastName = '';
  private lastWanted = false;
  private lastNoted = false;
  private counts = { malformed: 0, lines: 0, duplicates: 0, held: 0, sniffed: 0, sniffedGood: 0, bytes: 0 };
  private eof = false;
  private dataAfterEof = false;
  private comments = 0;

  constructor(options: ExpositionOptions) {
    this.options = options;
  }

  feed(chunk: string): void {
    const text = this.rest + chunk;
    this.counts.bytes += chunk.length;
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      if (this.overlong) this.overlong = false;
      else if (end - start > MAX_LINE) this.counts.malformed += 1;
      else this.line(text, start, end);
      start = end + 1;
    }
    this.keep(text.slice(start));
  }

  end(): ExpositionPage {
    const closed = this.rest === '' && !this.overlong;
    if (this.rest !== '') this.line(this.rest, 0, this.rest.length);
    const { malformed, lines, duplicates, sniffed, sniffedGood, bytes } = this.counts;
    return {
      samples: this.samples,
      types: this.types,
      names: this.names,
      malformedLines: malformed,
      sampleLines: lines,
      duplicates,
      eof: this.eof,
      dataAfterEof: this.dataAfterEof,
      closed,
      foreign: sniffed > 0 && sniffedGood === 0,
      empty: bytes === 0 || (lines === 0 && malformed === 0 && this.comments === 0 && !this.eof),
    };
  }

  /** Holds an unfinished line back; an endless one is given up, not collected. */
  private keep(rest: string): void {
    if (!this.overlong && rest.length > MAX_LINE) {
      this.overlong = true;
      this.counts.malformed += 1;
    }
    this.rest = this.overlong ? '' : rest;
  }

  private line(text: string, lineStart: number, lineEnd: number): void {
    let end = lineEnd;
    if (text.charCodeAt(end - 1) === 0x0d) end -= 1;
    let start = lineStart;
    while (start < end && (text.charCodeAt(start) === 0x20 || text.charCodeAt(start) === 0x09)) start += 1;
    if (start >= end) return;
    if (this.eof && this.options.format === 'openmetrics') {
      this.dataAfterEof = true;
      return;
    }
    if (text.charCodeAt(start) === HASH) this.comment(text, start, end);
    else this.sampleLine(text, start, end);
  }

  private comment(text: string, start: number, end: number): void {
    this.comments += 1;
    // HELP texts are the bulk of the comments and nobody reads them.
    if (text.charCodeAt(start + 2) === 0x48) return;
    const match = COMMENT.exec(text.slice(start, end));
    if (match === null) return;
    if (match[1] === 'EOF') this.eof = true;
    const family = match[2] ?? match[3];
    const type = match[4];
    if (family === undefined || type === undefined || this.types.size >= MAX_NAMES) return;
    if (!this.types.has(family)) this.types.set(family, type);
  }

  /** True when the line's name is the last line's (histogram buckets), which saves a look-up for most of a page. */
  private isLastName(text: string, start: number): boolean {
    if (this.lastName === '' || !text.startsWith(this.lastName, start)) return false;
    const next = text.charCodeAt(start + this.lastName.length);
    return next === OPEN || next === 0x20 || next === 0x09;
  }

  private sampleLine(text: string, start: number, end: number): void {
    this.counts.lines += 1;
    const isQuotedName = text.charCodeAt(start) === OPEN;
    if (!isQuotedName && !this.isLastName(text, start)) {
      const stop = Math.min(nameEnd(text, start), end);
      this.lastName = text.slice(start, stop);
      this.lastWanted = this.options.wants(this.lastName);
      this.lastNoted = false;
    }
    const sniffing = this.counts.sniffed < SNIFFED_LINES;
    if (!isQuotedName && !this.lastWanted && !sniffing) {
      this.noteRun();
      return;
    }
    const sample = parseSampleLine(text.slice(start, end), this.options.format);
    if (sniffing) {
      this.counts.sniffed += 1;
      if (sample !== null) this.counts.sniffedGood += 1;
    }
    if (sample === null) {
      this.counts.malformed += 1;
      return;
    }
    if (isQuotedName) this.note(sample.name);
    else this.noteRun();
    if (isQuotedName ? this.options.wants(sample.name) : this.lastWanted) this.hold(sample);
  }

  /** Remembers the name of the current run of lines, once. */
  private noteRun(): void {
    if (this.lastNoted) return;
    this.lastNoted = true;
    this.note(this.lastName);
  }

  private note(name: string): void {
    if (this.names.size < MAX_NAMES) this.names.add(name);
  }

  private hold(sample: Sample): void {
    if (this.counts.held >= MAX_SAMPLES) return;
    const held = this.samples.get(sample.name);
    if (held === undefined) {
      this.samples.set(sample.name, [sample]);
      this.counts.held += 1;
      return;
    }
    if (this.isDuplicate(sample, held)) {
      this.counts.duplicates += 1;
      return;
    }
    held.push(sample);
    this.counts.held += 1;
  }

  private isDuplicate(sample: Sample, held: readonly Sample[]): boolean {
    let keys = this.seen.get(sample.name);
    if (keys === undefined) {
      keys = new Set(held.map(seriesKey));
      this.seen.set(sample.name, keys);
    }
    const key = seriesKey(sample);
    if (keys.has(key)) return true;
    keys.add(key);
    return false;
  }
}

export const createExpositionParser = (options: ExpositionOptions): ExpositionParser => new PageParser(options);

/** A whole page at once. */
export function parseExposition(text: string, options: ExpositionOptions): ExpositionPage {
  const parser = createExpositionParser(options);
  parser.feed(text);
  return parser.end();
}
