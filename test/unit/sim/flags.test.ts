import { describe, expect, it } from 'vitest';
import { SIM_FLAGS, simulatorOptions } from '../../../src/sim/flags.ts';
import { DEFAULT_SIMULATOR } from '../../../src/sim/options.ts';

const sections = (options: typeof DEFAULT_SIMULATOR) => ({
  server: options as unknown as Record<string, unknown>,
  engine: options.engine as unknown as Record<string, unknown>,
  cost: options.engine.cost as unknown as Record<string, unknown>,
  load: options.load as unknown as Record<string, unknown>,
});

/** A value of the flag's kind that is not its default. */
const OTHER = {
  text: 'other',
  count: '77',
  number: '0.25',
  ratio: '0.9',
  shape: 'steady',
  faults: 'stall,after_tokens=1;buffer',
} as const;

describe('the flags of the simulator', () => {
  it('are the defaults when none is given', () => {
    expect(simulatorOptions({})).toEqual(DEFAULT_SIMULATOR);
  });

  it('cover every option there is, each once', () => {
    const keys = SIM_FLAGS.map((flag) => `${flag.section}.${flag.key}`);
    const nested = new Set(['server.engine', 'server.load', 'engine.cost']);
    const options = Object.entries(sections(DEFAULT_SIMULATOR)).flatMap(([section, values]) =>
      Object.keys(values).map((key) => `${section}.${key}`),
    );
    expect([...keys].sort()).toEqual(options.filter((key) => !nested.has(key)).sort());
    expect(new Set(SIM_FLAGS.map((flag) => flag.name)).size).toBe(SIM_FLAGS.length);
  });

  it.each(SIM_FLAGS)('--$name sets $section.$key and nothing else, and shows its default', (flag) => {
    const before = sections(DEFAULT_SIMULATOR)[flag.section][flag.key];
    const text = flag.kind === 'boolean' ? String(!before) : OTHER[flag.kind];
    const changed = sections(simulatorOptions({ [flag.name]: text }))[flag.section][flag.key];
    expect(changed).not.toEqual(before);
    expect(typeof changed).toBe(before === null ? 'string' : typeof before);
    expect(simulatorOptions({ [flag.name]: flag.defaultText || undefined })).toEqual(DEFAULT_SIMULATOR);
    expect(flag.meaning).toMatch(/\.$/);
  });

  it('reads a list of faults', () => {
    const { faults } = simulatorOptions({ fault: OTHER.faults });
    expect(faults.map((fault) => fault.kind)).toEqual(['stall', 'buffer']);
  });

  it.each([
    ['port', 'eight', /--port must be a number/],
    ['port', '1.5', /--port must be a whole number/],
    ['port', '', /--port must be a number/],
    ['load-rate', '-1', /--load-rate must be a number of at least 0/],
    ['load-shared-ratio', '2', /between 0 and 1/],
    ['prefix-caching', 'yes', /true or false/],
    ['load', 'heavy', /one of none, steady, wave/],
    ['fault', 'explode', /kind must be one of/],
  ])('refuses --%s=%s and says why', (name, text, message) => {
    expect(() => simulatorOptions({ [name]: text })).toThrow(message);
  });

  it('keeps the base it is given', () => {
    const base = { ...DEFAULT_SIMULATOR, model: 'mine' };
    expect(simulatorOptions({ port: '1' }, base)).toEqual({ ...base, port: 1 });
  });
});
