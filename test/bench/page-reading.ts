import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../../src/clock.ts';
import { wantedNames } from '../../src/engine/dialects/names.ts';
import { parseExposition } from '../../src/engine/exposition.ts';
import { createEngineState } from '../../src/engine/state.ts';
import { silentLogger } from '../../src/log.ts';
import { seconds } from '../../src/units.ts';
import { type Distribution, distribution } from './statistics.ts';

export interface PageReading {
  readonly bytes: number;
  readonly samples: number;
  /** Parsing, normalising and taking into the state of one page, milliseconds. */
  readonly milliseconds: Distribution;
}

/** Reads the same page again and again, as the poller does each second. */
export function measurePageReading(file: string): PageReading {
  const text = readFileSync(file, 'utf8');
  const wants = wantedNames(false);
  const state = createEngineState(
    {
      target: 'bench',
      expected: null,
      expectedDialect: null,
      polled: true,
      everySeconds: seconds(1),
      staleAfterSeconds: seconds(10),
      peakWindowSeconds: seconds(60),
      hangAfterSeconds: seconds(20),
      histograms: false,
    },
    { clock: systemClock(), log: silentLogger() },
  );
  const times: number[] = [];
  let samples = 0;
  for (let round = 0; round < 300; round += 1) {
    const startedAt = performance.now();
    const page = parseExposition(text, { format: 'text', wants });
    state.take({ ok: true, page, bytes: text.length, processStartSeconds: null, contentTypeOdd: false }, seconds(0));
    times.push(performance.now() - startedAt);
    samples = page.sampleLines;
  }
  // The first rounds compile; a sidecar has them behind it within a minute.
  return { bytes: Buffer.byteLength(text), samples, milliseconds: distribution(times.slice(100)) };
}
