import type { FamilyDefinition } from './definition.ts';
import { formatBound, renderLabels } from './exposition.ts';

/**
 * What stands on each line of an instrument around its base labels and its value: `head` + base + `tail` + value. It is
 * the same for all instruments of a family with the same bounds, so a page of many targets is mostly concatenation.
 */
export interface Layout {
  readonly heads: readonly string[];
  readonly tails: readonly string[];
}

interface Line {
  readonly suffix: string;
  readonly own: Readonly<Record<string, string>>;
}

/** An instrument carries at most one label of its own; its values are a closed set. */
export const ownLabel = (family: FamilyDefinition): string | undefined => family.labels[0];
export function ownValues(family: FamilyDefinition): readonly string[] {
  const label = ownLabel(family);
  return label === undefined ? [] : (family.values?.[label] ?? []);
}

function linesOf(
  family: FamilyDefinition,
  own: Readonly<Record<string, string>>,
  bounds: readonly number[],
): readonly Line[] {
  const plain = [
    { suffix: '_sum', own },
    { suffix: '_count', own },
  ];
  if (family.type === 'summary') return plain;
  if (family.type !== 'histogram') return [{ suffix: '', own }];
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound) => ({
    suffix: '_bucket',
    own: { ...own, le: formatBound(bound) },
  }));
  return [...buckets, ...plain];
}

function createLayout(family: FamilyDefinition, bounds: readonly number[], hasBase: boolean): Layout {
  const label = ownLabel(family);
  const sets = label === undefined ? [{}] : ownValues(family).map((value) => ({ [label]: value }));
  const lines = sets.flatMap((own) => linesOf(family, own, bounds));
  return {
    heads: lines.map(({ suffix, own }) => {
      const braced = hasBase || Object.keys(own).length > 0;
      return `${family.name}${suffix}${braced ? '{' : ''}`;
    }),
    tails: lines.map(({ own }) => {
      const labels = renderLabels(own);
      if (labels === '') return hasBase ? '} ' : ' ';
      return `${hasBase ? ',' : ''}${labels}} `;
    }),
  };
}

/** Layouts by family and bounds, each made once. */
export interface Layouts {
  of(family: FamilyDefinition, bounds: readonly number[], hasBase: boolean): Layout;
}

export function createLayouts(): Layouts {
  const known = new Map<string, Layout>();
  return {
    of(family, bounds, hasBase) {
      const key = `${family.name} ${hasBase} ${bounds.join(' ')}`;
      const layout = known.get(key) ?? createLayout(family, bounds, hasBase);
      known.set(key, layout);
      return layout;
    },
  };
}
