/**
 * What the first bytes say, whatever the header says; null: no more than the header. Clients of these APIs do not look
 * at the header, so an event stream under a wrong type serves users well; and a gateway that puts the type of a stream
 * on everything sends whole answers and errors under it.
 */
export type Sniffer = (head: string) => 'stream' | 'answer' | 'undecided' | null;

/** Of UTF-8, as its bytes look when each is a character; it may not be complete yet. */
const BOM = /^\u00ef(?:\u00bb\u00bf?|$)/;
const FIELD = /^(?:data|event|id|retry)?:/;
const BEGINNING_OF_FIELD = /^(?:d|da|dat|data|e|ev|eve|even|event|i|id|r|re|ret|retr|retry)?$/;
/** What has not shown its kind within this is taken for what the header says. */
const UNDECIDED_BYTES = 8 * 1024;

/** Server-sent events begin with a field or a comment. No field of theirs begins like JSON or like a page. */
export const sniffEvents: Sniffer = (head) => {
  const start = head.trimStart();
  if (BEGINNING_OF_FIELD.test(start)) return 'undecided';
  if (FIELD.test(start)) return 'stream';
  return /^[{[<]/.test(start) ? 'answer' : null;
};

/** A line of JSON may be the first of many, or all there is; one that says that it is not the last is a stream. */
export const sniffLines: Sniffer = (head) => {
  const [line = '', ...more] = head.trimStart().split('\n', 2);
  if (line.startsWith('<') || (line.trim() === '{' && more.length > 0)) return 'answer';
  if (more.length === 0 && (line === '' || line.startsWith('{'))) return 'undecided';
  return /"done"\s*:\s*false/.test(line) ? 'stream' : null;
};

/** What `sniff` says of the bytes so far, each of them a character of `head`. */
export const sniffed = (sniff: Sniffer, head: string): ReturnType<Sniffer> =>
  head.length > UNDECIDED_BYTES ? null : sniff(head.replace(BOM, ''));
