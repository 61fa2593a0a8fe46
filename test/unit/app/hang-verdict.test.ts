import { describe, expect, it } from 'vitest';
import { createHangVerdict } from '../../../src/app/hang-verdict.ts';
import type { Diagnosis } from '../../../src/diagnose/types.ts';
import type { EngineView } from '../../../src/engine/types.ts';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';

const view = (tokens: number, more: Partial<EngineView> = {}): EngineView =>
  ({
    up: true,
    hung: false,
    restarts: 0,
    series: [{ counters: { generation_tokens: tokens } }],
    ...more,
  }) as unknown as EngineView;
const failed = { outcome: 'failed' } as ProbeOutcome;
const good = { outcome: 'good' } as ProbeOutcome;
const hang = { cause: 'engine_hang' } as Diagnosis;
const queueing = { cause: 'queueing' } as Diagnosis;

describe('the hang verdict of a probe', () => {
  it('R-012: shows an idle engine that stands still as hung, as long as its page stands still', () => {
    const verdict = createHangVerdict();
    verdict.observe(failed, hang, view(500));
    expect(verdict.apply(view(500)).hung).toBe(true);
    expect(verdict.apply(view(500)).hung).toBe(true);
  });

  it('R-011: is not ended by the few tokens of health checks', () => {
    const verdict = createHangVerdict();
    verdict.observe(failed, hang, view(500));
    expect(verdict.apply(view(530)).hung).toBe(true);
  });

  it('ends with a good probe', () => {
    const verdict = createHangVerdict();
    verdict.observe(failed, hang, view(500));
    verdict.observe(good, null, view(500));
    expect(verdict.apply(view(500)).hung).toBe(false);
  });

  it('ends when the engine works again or restarts, and does not come back by itself', () => {
    for (const alive of [view(700), view(0, { restarts: 1 })]) {
      const verdict = createHangVerdict();
      verdict.observe(failed, hang, view(500));
      expect(verdict.apply(alive).hung).toBe(false);
      expect(verdict.apply(view(500)).hung).toBe(false);
    }
  });

  it('says nothing while the page cannot be read', () => {
    const verdict = createHangVerdict();
    verdict.observe(failed, hang, view(500));
    expect(verdict.apply(view(500, { up: false })).hung).toBe(false);
  });

  it('is not made from another cause or without a page', () => {
    const verdict = createHangVerdict();
    verdict.observe(failed, queueing, view(500));
    verdict.observe(failed, hang, null);
    expect(verdict.apply(view(500)).hung).toBe(false);
  });
});
