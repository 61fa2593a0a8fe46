import { describe, expect, it } from 'vitest';
import { compareCell, setupsOf, startCommand, turnsOf } from '../../../src/experiment/compare-order.ts';
import { samplePlan } from '../../support/sample-comparison.ts';

describe('the order of a comparison', () => {
  const plan = samplePlan({ repeats: 3, levels: [2, 4] });
  const names = (turns: ReturnType<typeof turnsOf>): string[] =>
    turns.map((turn) => `${compareCell(turn.setup, 0, turn.repeat)} ${turn.levels.join(',')}`);

  it('measures everything once before anything again', () => {
    const turns = turnsOf(plan);
    const setups = setupsOf(plan).length;
    expect(setups).toBe(8);
    for (const repeat of [1, 2, 3]) {
      const block = turns.slice((repeat - 1) * setups, repeat * setups);
      expect(new Set(block.map((turn) => turn.repeat))).toEqual(new Set([repeat]));
      expect(new Set(block.map((turn) => compareCell(turn.setup, 0, 0))).size).toBe(setups);
    }
  });

  it('is shuffled, differently in each repeat, and the same for the same seed', () => {
    const order = names(turnsOf(plan));
    expect(names(turnsOf(plan))).toEqual(order);
    expect(names(turnsOf({ ...plan, seed: 'another' }))).not.toEqual(order);
    const block = (repeat: number) => turnsOf(plan).filter((turn) => turn.repeat === repeat);
    expect(block(1).map((turn) => turn.setup)).not.toEqual(block(2).map((turn) => turn.setup));
  });

  it('gives every run a folder of its own', () => {
    const cells = turnsOf(plan).flatMap((turn) =>
      turn.levels.map((level) => compareCell(turn.setup, level, turn.repeat)),
    );
    expect(new Set(cells).size).toBe(8 * 2 * 3);
  });

  it('puts the arguments of the switches at the end, or where they are wanted', () => {
    const [engine] = plan.engines;
    if (engine === undefined) throw new Error('a plan has engines');
    const states = { cache: true, chunked: false };
    expect(startCommand({ engine, states })).toBe('serve a --cache --no-chunked');
    expect(startCommand({ engine: { ...engine, start: 'run "serve {switches}"' }, states })).toBe(
      'run "serve --cache --no-chunked"',
    );
    expect(startCommand({ engine: { ...engine, start: null }, states })).toBeNull();
  });
});
