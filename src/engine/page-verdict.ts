import type { ExpositionPage } from './exposition.ts';
import type { PollFailureReason } from './types.ts';

/** What is known of a body besides its text. */
export interface PageFacts {
  /** The first characters. */
  readonly opening: string;
  readonly format: 'text' | 'openmetrics';
  readonly bytes: number;
  /** The body is plain and its length was announced, so that it has arrived whole. */
  readonly lengthKnown: boolean;
}

interface PageFault {
  readonly reason: PollFailureReason;
  readonly message: string;
}

function foreignKind(opening: string): string | null {
  const first = opening.replace(/^\ufeff/, '').trimStart();
  if (first.startsWith('<')) return 'HTML';
  if (first.startsWith('[')) return 'JSON';
  // A quoted metric name also opens with a brace: `{"my.name"} 1`. JSON has a colon behind its first key.
  return first === '{}' || /^\{\s*("(?:[^"\\]|\\.)*"\s*:|\}|$)/.test(first) ? 'JSON' : null;
}

/**
 * Whether a parsed body is a complete metrics page; null when it is. By content: engines label their pages wrongly or
 * not at all.
 */
export function faultOfPage(page: ExpositionPage, facts: PageFacts): PageFault | null {
  if (facts.bytes === 0 || page.empty) return { reason: 'empty_page', message: 'the page is empty' };
  if (facts.opening.startsWith('\u001f'))
    return { reason: 'bad_encoding', message: 'the body is compressed once more' };
  const kind = foreignKind(facts.opening) ?? (page.foreign ? 'some other text' : null);
  if (kind !== null) return { reason: 'not_prometheus', message: `the answer is ${kind}, not a metrics page` };
  if (facts.format === 'openmetrics') {
    return page.eof ? null : { reason: 'truncated', message: 'the page ends before its # EOF' };
  }
  // A last line without its line feed is a cut page, unless the length was announced and has arrived.
  const whole = page.closed || facts.lengthKnown || page.eof;
  return whole ? null : { reason: 'truncated', message: 'the page ends inside a line' };
}
