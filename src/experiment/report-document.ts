import type { Markup } from './report-markup.ts';

/** Never the only sign: each tone goes with words or a mark that say the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain';

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

export type TableCell = string | { readonly text: string; readonly tone: Tone };

/** What a report is made of. Text is plain text: each renderer makes it safe for its own format. */
export type Block =
  | { readonly kind: 'heading'; readonly level: 2 | 3; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'notice'; readonly tone: Tone; readonly title: string; readonly text: string }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'facts'; readonly items: readonly (readonly [string, string])[] }
  | {
      readonly kind: 'table';
      readonly caption: string;
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly TableCell[])[];
    }
  | { readonly kind: 'chart'; readonly title: string; readonly description: string; readonly svg: Markup };

/** A report before it has a format; Markdown and HTML are made from the same one, so their figures cannot differ. */
export interface ReportDocument {
  readonly title: string;
  readonly subtitle: string;
  readonly blocks: readonly Block[];
}

export const heading = (text: string, level: 2 | 3 = 2): Block => ({ kind: 'heading', level, text });
export const paragraph = (text: string): Block => ({ kind: 'text', text });
export const notice = (tone: Tone, title: string, text: string): Block => ({ kind: 'notice', tone, title, text });
export const list = (items: readonly string[], ordered = false): Block => ({ kind: 'list', ordered, items });
export const facts = (items: readonly (readonly [string, string])[]): Block => ({ kind: 'facts', items });
export const table = (
  caption: string,
  columns: readonly (string | Column)[],
  rows: readonly (readonly TableCell[])[],
): Block => ({
  kind: 'table',
  caption,
  columns: columns.map((column) => (typeof column === 'string' ? { title: column, align: 'right' } : column)),
  rows,
});
export const leftColumn = (title: string): Column => ({ title, align: 'left' });
export const chart = (title: string, description: string, svg: Markup): Block => ({
  kind: 'chart',
  title,
  description,
  svg,
});
