import { describe, expect, it } from 'vitest';
import { createHangDetector, createHangWatch } from '../../../src/engine/hang.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';
import { normalized, pageText } from '../../support/pages.ts';

interface Reading {
  readonly busy: boolean;
  readonly progress: number | null;
}

/** The verdict after each second. */
function judge(readings: readonly Reading[], healthTokensPerSecond = 0): readonly boolean[] {
  const detector = createHangDetector({ hangAfterSeconds: seconds(10), healthTokensPerSecond });
  return readings.map((reading, second) => detector.observe({ at: monotonicInstant(second), ...reading }));
}

const repeat = (count: number, progress: (second: number) => number | null, busy = true): readonly Reading[] =>
  Array.from({ length: count }, (_, second) => ({ busy, progress: progress(second) }));

describe('the hang verdict', () => {
  it('comes when requests are there and nothing has been produced for the whole span', () => {
    const verdicts = judge(repeat(13, () => 500));
    expect(verdicts.indexOf(true)).toBe(10);
    expect(verdicts.slice(10)).toEqual([true, true, true]);
  });

  it('does not come while anything is produced, however slowly', () => {
    expect(judge(repeat(60, (second) => Math.floor(second / 9)))).not.toContain(true);
  });

  it('does not come for an idle engine', () => {
    expect(judge(repeat(60, () => 500, false))).not.toContain(true);
  });

  it('counts from the moment at which requests came, not from the last token before', () => {
    const verdicts = judge([...repeat(30, () => 500, false), ...repeat(11, () => 500)]);
    expect(verdicts.indexOf(true)).toBe(40);
  });

  it('goes as soon as tokens flow again', () => {
    const verdicts = judge([...repeat(15, () => 500), ...repeat(3, (second) => 510 + second * 10)]);
    expect([verdicts[14], verdicts[15]]).toEqual([true, false]);
  });

  it('is not given without a counter that shows progress', () => {
    expect(judge(repeat(60, () => null))).not.toContain(true);
  });

  it('R-011: is neither prevented nor ended by the tokens of health checks', () => {
    // A token of prompt and one of answer every five seconds, beside requests that stand still.
    const health = repeat(60, (second) => 500 + 2 * Math.floor(second / 5));
    const verdicts = judge(health, 1);
    expect(verdicts.indexOf(true)).toBe(10);
    expect(verdicts.slice(10)).not.toContain(false);
    const probe = judge([...health, ...repeat(3, (second) => 560 + second * 16)], 1);
    expect(probe.at(-1)).toBe(false);
  });
});

describe('the watch over a page', () => {
  const watch = () => createHangWatch({ hangAfterSeconds: seconds(10), healthTokensPerSecond: 0 });

  it('R-012: sees a stopped engine behind a server that answers', () => {
    const [before, stopped] = ['vllm-0.32.0-hang/metrics-before-stop', 'vllm-0.32.0-hang/metrics-stopped-1s'].map(
      (name) => normalized(pageText(name)),
    );
    const after = normalized(pageText('vllm-0.32.0-hang/metrics-stopped-10s'));
    const cont = normalized(pageText('vllm-0.32.0-hang/metrics-cont'));
    if (before === undefined || stopped === undefined) throw new Error('no page');
    const one = watch();
    const at = (second: number) => monotonicInstant(second);
    expect(one.observe(at(0), before)).toBe(false);
    expect(one.observe(at(1), stopped)).toBe(false);
    expect(one.observe(at(10), after)).toBe(false);
    expect(one.observe(at(11), after)).toBe(true);
    expect(one.observe(at(12), cont)).toBe(false);
  });

  it('sees one rank that stands still beside one that works', () => {
    const page = (second: number) =>
      normalized(
        ['0', '1']
          .map(
            (rank) =>
              `vllm:num_requests_running{engine="${rank}",model_name="m"} 3\n` +
              `vllm:generation_tokens_total{engine="${rank}",model_name="m"} ${rank === '0' ? 500 : 500 + second}\n`,
          )
          .join(''),
      );
    const one = watch();
    const verdicts = Array.from({ length: 12 }, (_, second) => one.observe(monotonicInstant(second), page(second)));
    expect(verdicts.indexOf(true)).toBe(10);
  });

  it('does not take the prefill of a long prompt for a hang: the cache fills', () => {
    const page = (second: number) =>
      normalized(
        'vllm:num_requests_running{model_name="m"} 1\nvllm:generation_tokens_total{model_name="m"} 500\n' +
          `vllm:kv_cache_usage_perc{model_name="m"} ${0.01 * second}\n`,
      );
    const one = watch();
    const verdicts = Array.from({ length: 30 }, (_, second) => one.observe(monotonicInstant(second), page(second)));
    expect(verdicts).not.toContain(true);
  });

  it('does not take a sleeping engine for a hanging one', () => {
    const page = normalized(
      'vllm:num_requests_running{model_name="m"} 1\nvllm:generation_tokens_total{model_name="m"} 500\n' +
        'vllm:engine_sleep_state{model_name="m",sleep_state="discard_all"} 1\n',
    );
    const one = watch();
    expect([0, 10, 20].map((second) => one.observe(monotonicInstant(second), page))).not.toContain(true);
  });
});
