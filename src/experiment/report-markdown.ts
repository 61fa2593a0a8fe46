import type { Block, ReportDocument, TableCell } from './report-document.ts';

const MARKS = { good: '✓ ', warn: '⚠ ', bad: '✕ ', plain: '' } as const;

/** Text as itself: what Markdown or HTML would read as markup is escaped, line breaks become spaces. */
const safe = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/[\\`*_[\]<>|#~]/g, (character) => `\\${character}`)
    .replace(/&(?=[#\w]+;)/g, '&amp;');

const cellText = (cell: TableCell): string =>
  typeof cell === 'string' ? safe(cell) : MARKS[cell.tone] + safe(cell.text);

function render(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${safe(block.text)}`;
    case 'text':
      return safe(block.text);
    case 'notice':
      return `> **${MARKS[block.tone]}${safe(block.title)}**${block.text === '' ? '' : `\n> ${safe(block.text)}`}`;
    case 'list':
      return block.items.map((item, index) => `${block.ordered ? `${index + 1}.` : '-'} ${safe(item)}`).join('\n');
    case 'facts':
      return block.items.map(([name, value]) => `- ${safe(name)}: ${safe(value)}`).join('\n');
    case 'table': {
      const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
      return [
        ...(block.caption === '' ? [] : [safe(block.caption), '']),
        row(block.columns.map((column) => safe(column.title))),
        row(block.columns.map((column) => (column.align === 'right' ? '---:' : ':---'))),
        ...block.rows.map((cells) => row(cells.map(cellText))),
      ].join('\n');
    }
    case 'chart':
      return `*${safe(block.title)}: see \`report.html\`. ${safe(block.description)}*`;
  }
}

export function reportMarkdown(document: ReportDocument, footer: string): string {
  const parts = [
    `# ${safe(document.title)}`,
    safe(document.subtitle),
    ...document.blocks.map(render),
    `---\n\n${safe(footer)}`,
  ];
  return `${parts.join('\n\n')}\n`;
}
