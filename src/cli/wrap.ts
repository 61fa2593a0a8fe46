/** Breaks text into lines of at most `width` characters between words; a longer word gets a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The same, with `first` before the first line and as many blanks before the others. */
export const indent = (first: string, text: string, width: number): readonly string[] =>
  wrap(text, Math.max(20, width - first.length)).map(
    (line, index) => (index === 0 ? first : ' '.repeat(first.length)) + line,
  );
