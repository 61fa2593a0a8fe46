/**
 * A deliberately simple reader of the text format, written apart from the program's own parser, so that the two can
 * disagree. It knows what the engines under test really send, nothing else.
 */
export interface PageSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \S+)?$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(Array.from(text.matchAll(LABEL), (match) => [match[1], match[2]]));
}

function parseValue(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}

/** Every sample line of a page. Throws on a line that it cannot read: a wrong page must not look like an empty one. */
function parsePage(text: string): PageSample[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      // An exemplar after " # " is no part of the sample.
      const match = LINE.exec(line.split(' # ')[0] ?? '');
      if (match === null) throw new Error(`unreadable line on the metrics page: ${line.slice(0, 200)}`);
      return { name: match[1] ?? '', labels: parseLabels(match[2] ?? ''), value: parseValue(match[3] ?? '') };
    });
}

export interface MetricsPage {
  /** All samples of this name whose labels include the given ones. */
  all(name: string, labels?: Readonly<Record<string, string>>): readonly PageSample[];
  /** Sum over those samples; null when there is none, which is something else than 0. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | null;
  max(name: string, labels?: Readonly<Record<string, string>>): number | null;
}

function metricsPage(text: string): MetricsPage {
  const samples = parsePage(text);
  const all = (name: string, labels: Readonly<Record<string, string>> = {}): readonly PageSample[] =>
    samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  const values = (name: string, labels?: Readonly<Record<string, string>>): number[] =>
    all(name, labels).map((sample) => sample.value);
  return {
    all,
    sum: (name, labels) => {
      const found = values(name, labels);
      return found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0);
    },
    max: (name, labels) => {
      const found = values(name, labels);
      return found.length === 0 ? null : Math.max(...found);
    },
  };
}

/** Fetches and reads a page. Rejects when it is not answered with 200 in the time that an engine under load may take. */
export async function fetchPage(url: string): Promise<MetricsPage> {
  const response = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return metricsPage(await response.text());
}
