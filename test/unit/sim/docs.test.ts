import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SIM_FAULT_KINDS } from '../../../src/sim/fault-types.ts';
import { SIM_FLAGS } from '../../../src/sim/flags.ts';

const rows = readFileSync(new URL('../../../docs/simulator.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')));

describe('docs/simulator.md', () => {
  it('lists every flag with its meaning and default, and no other', () => {
    const listed = rows.filter((row) => row[1]?.startsWith('`--')).map((row) => row.slice(1, 4));
    const wanted = SIM_FLAGS.map(({ name, argument, meaning, defaultText }) => [
      `\`--${name} ${argument}\``,
      meaning,
      defaultText === '' ? '' : `\`${defaultText}\``,
    ]);
    expect(listed).toEqual(wanted);
  });

  it('lists every kind of fault', () => {
    const listed = rows.filter((row) => !row[1]?.startsWith('`--')).map((row) => row[1]?.replaceAll('`', ''));
    expect([...listed].sort()).toEqual([...SIM_FAULT_KINDS].sort());
  });
});
