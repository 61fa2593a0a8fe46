import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { PROBE_FAMILIES } from '../../../src/metrics/probe-families.ts';
import { createPacer, type FamilySource, renderPage } from '../../../src/metrics/render.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { metricsUnderTest } from '../../support/metrics-under-test.ts';
import { sampleConfig, sampleTarget } from '../../support/sample-config.ts';
import { finished, goodProbe } from '../../support/sample-probe.ts';

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

/** A clock on which every look takes a millisecond. */
function tiringClock(): Clock {
  let now = 0;
  return {
    ...manualClock(),
    monotonic: () => {
      now += 0.001;
      return monotonicInstant(now);
    },
  };
}

async function* sourcesOf(...sources: readonly FamilySource[]): AsyncGenerator<FamilySource> {
  yield* sources;
}

describe('rendering', () => {
  it('lets the event loop turn between pieces, so that a probe in flight is not held up', async () => {
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const targets = Array.from({ length: 20 }, (_, index) => sampleTarget({ name: `t${index}` }));
    await metricsUnderTest(sampleConfig({ targets }), { clock: tiringClock() }).page();
    running = false;
    await nextTurn();
    // Some thirty families over forty profiles, each of them a piece.
    expect(turns).toBeGreaterThan(500);
  });

  it('does not give the loop away while there is time left in the slice', () => {
    expect(createPacer(manualClock()).breathe()).toBeUndefined();
  });

  it('is shared by scrapes that come at the same time', async () => {
    const metrics = metricsUnderTest();
    let asked = 0;
    metrics.engineViews(() => {
      asked += 1;
      return [];
    });
    const pages = await Promise.all([metrics.render(''), metrics.render('*/*'), metrics.render('text/plain')]);
    expect(new Set(pages).size).toBe(1);
    expect(asked).toBe(1);
    await metrics.render('');
    expect(asked).toBe(2);
  });

  it('shows its heading only for a family that has series', async () => {
    const empty = { family: PROBE_FAMILIES.success, parts: [{ render: () => '' }] };
    const { body } = await renderPage(sourcesOf(empty), 'text', createPacer(manualClock()));
    expect(body).toBe('');
  });

  it('fails as a whole when a part of it fails, and works again afterwards', async () => {
    const metrics = metricsUnderTest();
    metrics.engineViews(() => {
      throw new Error('broken');
    });
    await expect(metrics.render('')).rejects.toThrow('broken');
    metrics.engineViews(() => []);
    expect((await metrics.render('')).body).toContain('inference_probe_attempts_total');
  });

  it('is not changed by a rendering in the other format', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    const before = await metrics.page();
    await metrics.page(OPENMETRICS);
    expect(await metrics.page()).toBe(before);
  });
});

describe('exemplars', () => {
  it('G-091: name the probe behind a sample in OpenMetrics, and are not in the text format', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    const text = await metrics.page();
    const open = await metrics.page(OPENMETRICS);
    expect(text).not.toContain('probe_id');
    expect(open).toMatch(
      /inference_probe_ttft_seconds_bucket\{.*outcome="success",le="0\.29"\} 1 # \{probe_id="0123456789abcdef0123456789abcdef"\} 0\.25 \d+/,
    );
    expect(open).not.toContain('trace_id');
  });

  it('name the trace only where a traceparent was sent', async () => {
    const metrics = metricsUnderTest(sampleConfig({ traceparent: true }));
    metrics.probeFinished(finished(goodProbe()));
    expect(await metrics.page(OPENMETRICS)).toContain(
      '# {trace_id="0123456789abcdef0123456789abcdef",probe_id="0123456789abcdef0123456789abcdef"}',
    );
  });
});
