import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml';
import { LIMITS } from './defaults.ts';
import type { KeyPath, Places } from './report.ts';
import type { ConfigIssue } from './types.ts';

/** A YAML file as plain values, with the place of each. */
export interface ParsedDocument {
  readonly value: unknown;
  readonly places: Places;
  /** Errors of the YAML itself; then `value` is null. */
  readonly issues: readonly ConfigIssue[];
}

// Each anchor may be used by every target; a bomb of nested aliases multiplies past this at once.
const MAX_ALIASES = 20_000;
const MAX_YAML_ERRORS = 10;

// Own words, because the library's messages may quote the text, which may be a secret in the wrong place.
const YAML_MESSAGES: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'an alias or anchor has no usable name',
  BAD_DIRECTIVE: 'is not a YAML directive',
  BAD_DQ_ESCAPE: 'holds an unknown escape in double quotes; use single quotes for backslashes',
  BAD_INDENT: 'is indented differently from its neighbours',
  BAD_PROP_ORDER: 'anchors and tags must come after the indicator',
  BAD_SCALAR_START: 'a value cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping cannot start inside a key; is a line break or a quote missing?',
  BLOCK_IN_FLOW: 'a block cannot stand inside [] or {}',
  DUPLICATE_KEY: 'the key is given twice',
  IMPOSSIBLE: 'cannot be read',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a character is missing here: a colon, a quote or a bracket',
  MULTILINE_IMPLICIT_KEY: 'a key cannot go over several lines; is a colon missing?',
  MULTIPLE_ANCHORS: 'has two anchors',
  MULTIPLE_DOCS: 'a second YAML document starts here; the configuration is one document',
  MULTIPLE_TAGS: 'has two tags',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'is nested too deep',
  TAB_AS_INDENT: 'a tab cannot indent YAML; use spaces',
  TAG_RESOLVE_FAILED: 'tags are not supported here',
  UNEXPECTED_TOKEN: 'something stands here that cannot; check quotes, brackets and indentation',
};

const describeYamlError = (code: string): string => `YAML: ${YAML_MESSAGES[code] ?? `cannot be read (${code})`}`;

type Root = ReturnType<typeof parseDocument>;

interface Found {
  readonly key: Node | null;
  readonly value: Node | null;
}

/** Follows aliases to what they stand for. */
const resolved = (node: unknown, root: Root): unknown => (isAlias(node) ? node.resolve(root) : node);

const keyText = (pair: Pair): string | null => {
  if (!isScalar(pair.key)) return null;
  return String(pair.key.value);
};

/** The pair of a key, also when it comes from a mapping that is merged in with `<<`. */
function pairOf(map: unknown, name: string, root: Root): Pair | null {
  const node = resolved(map, root);
  if (isSeq(node)) {
    for (const item of node.items) {
      const found = pairOf(item, name, root);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isMap(node)) return null;
  // Of a key that is given twice the last one is meant where an error is to be shown.
  const own = node.items.findLast((pair) => keyText(pair) === name);
  if (own !== undefined) return own;
  const merged = node.items.find((pair) => keyText(pair) === '<<');
  return merged === undefined ? null : pairOf(merged.value, name, root);
}

function child(found: Found, part: string | number, root: Root): Found | null {
  const node = resolved(found.value, root);
  if (typeof part === 'number') {
    const item = isSeq(node) ? node.items[part] : undefined;
    return item === undefined ? null : { key: item as Node, value: item as Node };
  }
  const pair = pairOf(node, part, root);
  return pair === null ? null : { key: pair.key as Node, value: (pair.value as Node | null) ?? (pair.key as Node) };
}

/** The place of a path, or of the deepest part of it that stands in the file (for a key that is missing). */
function locate(root: Root, path: KeyPath, part: 'key' | 'value'): number {
  let found: Found = { key: root.contents, value: root.contents };
  let complete = true;
  for (const step of path) {
    const next = child(found, step, root);
    if (next === null) {
      complete = false;
      break;
    }
    found = next;
  }
  const node = part === 'key' || !complete ? (found.key ?? found.value) : (found.value ?? found.key);
  return node?.range?.[0] ?? 0;
}

function placesOf(file: string, root: Root, lines: LineCounter): Places {
  return {
    of: (path, part = 'value') => {
      const { line, col } = lines.linePos(locate(root, path, part));
      return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
    },
  };
}

const failure = (file: string, message: string, place = file): ParsedDocument => ({
  value: null,
  places: { of: () => file },
  issues: [{ severity: 'error', place, key: '', message }],
});

/** Bytes to text: UTF-8 with or without a byte order mark, whatever the line ends. Null when it is not UTF-8. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Aliases of anchors that are not there; the library would only throw, without a place. */
function danglingAliases(file: string, root: Root, lines: LineCounter): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const anchors = new Set<string>();
  visit(root, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor);
      } else if (!anchors.has(node.source)) {
        const { line, col } = lines.linePos(node.range?.[0] ?? 0);
        const message = 'YAML: the alias has no anchor before it';
        issues.push({ severity: 'error', place: `${file}:${line}:${col}`, key: '', message });
      }
    },
  });
  return issues;
}

function parse(file: string, text: string): ParsedDocument {
  const lines = new LineCounter();
  const root = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false, stringKeys: true });
  const places = placesOf(file, root, lines);
  // One broken bracket can make an error of every line that follows it.
  const issues = [...root.errors, ...root.warnings].slice(0, MAX_YAML_ERRORS).map((problem): ConfigIssue => {
    const { line, col } = lines.linePos(problem.pos[0]);
    return {
      severity: 'error',
      place: `${file}:${Math.max(line, 1)}:${col}`,
      key: '',
      message: describeYamlError(problem.code),
    };
  });
  issues.push(...danglingAliases(file, root, lines));
  if (issues.length > 0) return { value: null, places, issues };
  return { value: root.toJS({ maxAliasCount: MAX_ALIASES }), places, issues };
}

/** Reads the bytes of a YAML file. Never throws for what is in them. */
export function readDocument(file: string, bytes: Uint8Array): ParsedDocument {
  if (bytes.byteLength > LIMITS.configBytes) return failure(file, `is larger than ${LIMITS.configBytes} bytes`);
  const text = decodeText(bytes);
  if (text === null) return failure(file, 'is not UTF-8 text; save it as UTF-8');
  if (text.includes('\0')) return failure(file, 'holds zero bytes; save it as UTF-8');
  try {
    const document = parse(file, text);
    if (document.issues.length === 0 && (document.value === null || document.value === undefined)) {
      return failure(file, 'is empty: a configuration has at least `targets`');
    }
    return document;
  } catch (error) {
    // The library throws for alias bombs, and out of stack on absurd nesting.
    const nested = error instanceof RangeError;
    return failure(file, nested ? 'YAML: is nested too deep' : 'YAML: aliases multiply too far');
  }
}
