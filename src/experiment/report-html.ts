import type { Block, Column, ReportDocument, TableCell } from './report-document.ts';
import { element, type Markup } from './report-markup.ts';
import { REPORT_STYLE } from './report-style.ts';

const MARKS = { good: '✓ ', warn: '! ', bad: '✕ ', plain: '' } as const;

function tableCell(cell: TableCell, column: Column | undefined): Markup {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' as const } : cell;
  const kinds = [column?.align === 'right' ? 'right' : '', tone === 'plain' ? '' : tone].filter((kind) => kind !== '');
  const attributes = { class: kinds.length === 0 ? null : kinds.join(' ') };
  return element('td', attributes, MARKS[tone] + text);
}

function tableOf(block: Extract<Block, { kind: 'table' }>): Markup {
  return element(
    'div',
    { class: 'scroll' },
    element(
      'table',
      {},
      block.caption === '' ? null : element('caption', {}, block.caption),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ...block.columns.map((column) =>
            element('th', { scope: 'col', class: column.align === 'right' ? 'right' : null }, column.title),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        ...block.rows.map((row) =>
          element('tr', {}, ...row.map((cell, index) => tableCell(cell, block.columns[index]))),
        ),
      ),
    ),
  );
}

function render(block: Block): Markup {
  switch (block.kind) {
    case 'heading':
      return element(`h${block.level}`, {}, block.text);
    case 'text':
      return element('p', {}, block.text);
    case 'notice':
      return element(
        'div',
        { class: `notice ${block.tone}`, role: 'note' },
        element('strong', {}, MARKS[block.tone] + block.title),
        block.text === '' ? null : element('p', {}, block.text),
      );
    case 'list':
      return element(block.ordered ? 'ol' : 'ul', {}, ...block.items.map((item) => element('li', {}, item)));
    case 'facts':
      return element(
        'dl',
        {},
        ...block.items.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
      );
    case 'table':
      return tableOf(block);
    case 'chart':
      return element(
        'figure',
        {},
        element('figcaption', {}, element('b', {}, block.title), element('span', {}, block.description)),
        element('div', { class: 'scroll' }, block.svg),
      );
  }
}

/** One file: nothing is loaded, nothing runs, and a policy says so in case something should try. */
export function reportHtml(document: ReportDocument, footer: string): string {
  const head = element(
    'head',
    {},
    { markup: '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">' },
    { markup: `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` },
    element('title', {}, document.title),
    { markup: `<style>${REPORT_STYLE}</style>` },
  );
  const main = element(
    'main',
    {},
    element('h1', {}, document.title),
    element('p', { class: 'subtitle' }, document.subtitle),
    ...document.blocks.map(render),
    element('footer', {}, footer),
  );
  return `<!doctype html>\n${element('html', { lang: 'en' }, head, element('body', {}, main)).markup}\n`;
}
