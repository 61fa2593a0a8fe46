import { describe, expect, it } from 'vitest';
import type { ComparedQuantity, Quantity } from '../../../src/experiment/compare-analyse.ts';
import type { ComparePlan } from '../../../src/experiment/compare-types.ts';
import { attribution } from '../../../src/experiment/compare-words.ts';
import type { Effect } from '../../../src/experiment/effects.ts';

const throughput = { name: 'output tokens/s' } as Quantity;
const planOf = (...engines: string[]) => ({ engines: engines.map((name) => ({ name })) }) as unknown as ComparePlan;
const effect = (ratio: number, significant: boolean): Effect => ({
  name: 'cache',
  ratio,
  low: ratio - 0.05,
  high: ratio + 0.05,
  significant,
});
const compared = (off: Effect | null, on: Effect | null, ...within: (Effect | null)[]): ComparedQuantity => ({
  key: 'throughput',
  effects: [],
  sides: [{ name: 'cache', off, on, within: within.map((one, index) => ({ engine: `e${index}`, effect: one })) }],
});

describe('to what a difference is due', () => {
  it('is said for each position of the switch, with what the switch gives', () => {
    expect(
      attribution(
        planOf('e0', 'e1'),
        compared(effect(0.01, false), effect(0.3, true), effect(0, false), effect(0.4, true)),
        throughput,
      ),
    ).toEqual([
      'output tokens/s, e1 instead of e0: with cache off the difference is within the noise (+1.0 %, −4.0 % to +6.0 %), with it on it is +30.0 % (95 % interval +25.0 % to +35.0 %); cache gives e0 within the noise (±0.0 %, −5.0 % to +5.0 %) and e1 +40.0 % (95 % interval +35.0 % to +45.0 %).',
    ]);
  });

  it('claims no "nothing" where there are no valid runs to tell it from', () => {
    expect(attribution(planOf('e0', 'e1'), compared(null, null, null, null), throughput)).toEqual([
      'output tokens/s, e1 instead of e0: what lies between the engines cannot be told, for want of valid runs; what cache does cannot be told, for want of valid runs.',
    ]);
    expect(attribution(planOf('e0'), compared(null, null, null), throughput)).toEqual([
      'output tokens/s of e0: what cache does cannot be told, for want of valid runs.',
    ]);
  });

  it('does not call a switch without effect when one engine is unknown', () => {
    const [sentence] = attribution(
      planOf('e0', 'e1'),
      compared(effect(0.01, false), null, effect(0, false), null),
      throughput,
    );
    expect(sentence).toContain('with it on it cannot be told; of cache: e0 within the noise');
    expect(sentence).not.toContain('nothing');
  });
});
