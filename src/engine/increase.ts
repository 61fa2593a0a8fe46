const isKnown = (value: number | null | undefined): value is number => Number.isFinite(value);

/**
 * How much one of our own counters of an engine rose over these samples; null with fewer than two, or when none has it.
 * Our own counters start at 0, so a counter that the first sample did not have was at 0 then: some are born with their
 * first event.
 */
export function increaseOf(values: readonly (number | null)[]): number | null {
  const [first] = values;
  const last = values.findLast(isKnown);
  return values.length < 2 || last === undefined ? null : Math.max(0, last - (isKnown(first) ? first : 0));
}
