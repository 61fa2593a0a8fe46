/** One sample of a page of metrics, read back the way Prometheus reads the text format. */
export interface PageSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const UNESCAPED: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
  while (pair.lastIndex < text.length) {
    const start = pair.lastIndex;
    const match = pair.exec(text);
    if (match === null) throw new Error(`not a label pair: ${text.slice(start)}`);
    const [, name = '', value = ''] = match;
    if (name in labels) throw new Error(`label ${name} is there twice: ${text}`);
    labels[name] = value.replace(/\\(["\\n])/g, (_, character: string) => UNESCAPED[character] ?? character);
  }
  return labels;
}

/** The samples of a page in the text format. Throws for a line that is none, and for a series that comes twice. */
export function readPage(body: string): readonly PageSample[] {
  const seen = new Set<string>();
  return body
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s.exec(line);
      if (match === null) throw new Error(`not a sample: ${line}`);
      const [, name = '', labels = '', value = ''] = match;
      const series = `${name}{${labels}}`;
      if (seen.has(series)) throw new Error(`the series is there twice: ${series}`);
      seen.add(series);
      return { name, labels: readLabels(labels), value: Number(value.replace('Inf', 'Infinity')) };
    });
}

// A test asks the same page many things.
let last: { readonly body: string; readonly samples: readonly PageSample[] } | null = null;
function read(body: string): readonly PageSample[] {
  if (last?.body !== body) last = { body, samples: readPage(body) };
  return last.samples;
}

/** Finds samples by name and some of their labels. */
export function samplesOf(
  body: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): readonly PageSample[] {
  return read(body).filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => (sample.labels[label] ?? '') === value),
  );
}

/** The value of the one sample that matches; undefined when there is none, an error when there are several. */
export function sampleOf(
  body: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samplesOf(body, name, labels);
  if (found.length > 1) throw new Error(`${found.length} samples of ${name} match ${JSON.stringify(labels)}`);
  return found[0]?.value;
}
