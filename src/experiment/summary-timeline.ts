import { median } from './statistics.ts';
import { increase, peakOf, pollsOf } from './summary-engine.ts';
import type { TimelineSlot } from './summary-types.ts';
import type { EngineRecord, RequestRecord } from './types.ts';
import { eachArrival, inside, type Span, sentAt } from './window.ts';

const SLOT_SECONDS = 10;
/** A short window gets shorter slots, so that a gap in it can be seen, too. */
const LEAST_SLOTS = 10;
const LEAST_SLOT_SECONDS = 0.25;
/** Below this share of the mean a slot is flagged. */
const FLAG_BELOW = 0.7;

interface Slot extends Span {
  readonly inFigures: boolean;
}

function cut({ fromSeconds, toSeconds }: Span, slotSeconds: number, inFigures: boolean): Slot[] {
  const slots: Slot[] = [];
  // Multiplied, not added up: a sum of fractions would end in a slot of almost nothing.
  const count = Math.max(0, Math.ceil((toSeconds - fromSeconds) / slotSeconds - 1e-6));
  for (let index = 0; index < count; index += 1) {
    const end = index === count - 1 ? toSeconds : fromSeconds + (index + 1) * slotSeconds;
    slots.push({ fromSeconds: fromSeconds + index * slotSeconds, toSeconds: end, inFigures });
  }
  return slots;
}

function slotSecondsOf(trimmed: Span): number {
  const length = trimmed.toSeconds - trimmed.fromSeconds;
  return Math.min(SLOT_SECONDS, Math.max(LEAST_SLOT_SECONDS, length / LEAST_SLOTS));
}

/** The slots of the trimmed window begin where it begins; what is trimmed has slots of its own. */
function slotsOf(whole: Span, trimmed: Span): Slot[] {
  const size = slotSecondsOf(trimmed);
  return [
    ...cut({ fromSeconds: whole.fromSeconds, toSeconds: trimmed.fromSeconds }, size, false),
    ...cut(trimmed, size, true),
    ...cut({ fromSeconds: trimmed.toSeconds, toSeconds: whole.toSeconds }, size, false),
  ];
}

/** Index of the slot that holds the instant; -1 outside of all. Slots are ascending and without gaps. */
function slotAt(slots: readonly Slot[], atSeconds: number): number {
  let [low, high] = [0, slots.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const slot = slots[middle];
    if (slot === undefined) return -1;
    if (atSeconds < slot.fromSeconds) high = middle - 1;
    else if (atSeconds >= slot.toSeconds) low = middle + 1;
    else return middle;
  }
  return -1;
}

function tokensBySlot(slots: readonly Slot[], requests: readonly RequestRecord[]): Float64Array {
  const tokens = new Float64Array(slots.length);
  for (const request of requests) {
    eachArrival(request, (at, count) => {
      const index = slotAt(slots, at);
      if (index >= 0) tokens[index] = (tokens[index] ?? 0) + count;
    });
  }
  return tokens;
}

export function timeline(
  whole: Span,
  trimmed: Span,
  requests: readonly RequestRecord[],
  engine: readonly EngineRecord[],
): TimelineSlot[] {
  const slots = slotsOf(whole, trimmed);
  const tokens = tokensBySlot(slots, requests);
  const counted = slots.reduce((sum, slot, index) => sum + (slot.inFigures ? (tokens[index] ?? 0) : 0), 0);
  const meanRate = counted / (trimmed.toSeconds - trimmed.fromSeconds);
  return slots.map((slot, index) => {
    const length = slot.toSeconds - slot.fromSeconds;
    const outputTokens = tokens[index] ?? 0;
    const ended = requests.filter((request) => inside(slot, request.endedAtSeconds));
    const ttfts = requests.flatMap((request) => (inside(slot, sentAt(request)) ? (request.ttftSeconds ?? []) : []));
    const polls = engine.filter((record) => record.up && inside(slot, record.atSeconds));
    return {
      fromSeconds: slot.fromSeconds,
      toSeconds: slot.toSeconds,
      inFigures: slot.inFigures,
      outputTokens,
      outputTokensPerSecond: outputTokens / length,
      requestsPerSecond: ended.filter((request) => request.outcome === 'good').length / length,
      failures: ended.filter((request) => request.outcome === 'failed').length,
      ttftP50Seconds: median(ttfts),
      ttftMaxSeconds: ttfts.length === 0 ? null : ttfts.reduce((most, value) => Math.max(most, value), 0),
      kvUsagePeak: peakOf(polls, 'kvUsageRatio'),
      runningPeak: peakOf(polls, 'running'),
      waitingPeak: peakOf(polls, 'waiting'),
      preemptions: increase(pollsOf(engine, slot), 'preemptions'),
      flagged: slot.inFigures && outputTokens / length < FLAG_BELOW * meanRate,
    };
  });
}
