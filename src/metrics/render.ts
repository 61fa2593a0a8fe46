import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { elapsed, type Seconds, seconds } from '../units.ts';
import type { FamilyDefinition } from './definition.ts';
import { CONTENT_TYPES, type ExpositionFormat, renderHeading } from './exposition.ts';
import type { Instrument } from './instruments.ts';

/** A family and the instruments that hold its series; every series belongs to one instrument. */
export interface FamilySource {
  readonly family: FamilyDefinition;
  readonly parts: Iterable<Instrument>;
}

/** A rendered page. `chunks` joined are the `body`; whoever sends it can do so piece by piece. */
export interface RenderedPage {
  readonly contentType: string;
  readonly chunks: readonly string[];
  readonly body: string;
}

// A probe in flight must not wait for us: after this time the event loop gets its turn.
const SLICE: Seconds = seconds(0.000_5);

/** Lets the event loop run when the caller has held it for a slice. */
export interface Pacer {
  breathe(): Promise<void> | undefined;
}

/** A pacer that starts its first slice now. */
export function createPacer(clock: Clock): Pacer {
  let since = clock.monotonic();
  return {
    breathe() {
      if (elapsed(since, clock.monotonic()) < SLICE) return undefined;
      return nextTurn().then(() => {
        since = clock.monotonic();
      });
    },
  };
}

async function renderFamily(source: FamilySource, format: ExpositionFormat, pacer: Pacer): Promise<readonly string[]> {
  const chunks: string[] = [];
  for (const part of source.parts) {
    const text = part.render(format);
    if (text !== '') chunks.push(text);
    const breath = pacer.breathe();
    if (breath !== undefined) await breath;
  }
  // A family without a series has no heading either.
  return chunks.length === 0 ? chunks : [renderHeading(source.family, format), ...chunks];
}

/** Renders families in their order, in slices; each family once, with its heading directly before its samples. */
export async function renderPage(
  sources: AsyncIterable<FamilySource>,
  format: ExpositionFormat,
  pacer: Pacer,
): Promise<RenderedPage> {
  const chunks: string[] = [];
  for await (const source of sources) {
    for (const chunk of await renderFamily(source, format, pacer)) chunks.push(chunk);
  }
  if (format === 'openmetrics') chunks.push('# EOF\n');
  return {
    contentType: CONTENT_TYPES[format],
    chunks,
    get body() {
      return chunks.join('');
    },
  };
}
