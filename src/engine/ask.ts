import type { Fetcher, FetchFailure, TextResponse } from './fetch.ts';
import { below } from './urls.ts';

/** An answer taken apart. Nothing throws: what cannot be read is null. */
export interface Answer {
  readonly status: number | null;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body as JSON; null when it is none. */
  readonly json: unknown;
}

/** Asks an endpoint for small documents and writes down, for people, what came back. */
export interface Asker {
  get(path: string): Promise<Answer>;
  note(finding: string): void;
  readonly findings: readonly string[];
}

const MAX_FINDINGS = 40;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function answerOf(response: TextResponse | FetchFailure): Answer {
  if (!response.ok) return { status: response.status, headers: new Map(), text: '', json: null };
  return { status: response.status, headers: response.headers, text: response.body, json: parsed(response.body) };
}

export function createAsker(base: URL, fetcher: Fetcher): Asker {
  const findings: string[] = [];
  const note = (finding: string): void => {
    if (findings.length < MAX_FINDINGS) findings.push(finding);
  };
  return {
    findings,
    note,
    async get(path) {
      const response = await fetcher.text(below(base, path));
      note(`GET ${path}: ${response.ok ? `HTTP ${response.status}` : `${response.reason} (${response.message})`}`);
      return answerOf(response);
    },
  };
}

/** A member of a JSON object; null when there is no such thing. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : null;

/** A short non-empty string, else null. */
export const shortString = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 200 ? value : null;

/** A positive finite number, else null. */
export const positive = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
