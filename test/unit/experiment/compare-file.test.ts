import { describe, expect, it } from 'vitest';
import { readExperimentFile } from '../../../src/experiment/compare-file.ts';

const read = (text: string) => readExperimentFile('e.yml', new TextEncoder().encode(text));

function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the file was taken');
}

const GOOD = `name: two engines
repeats: 2
levels: [8, 4, 4]
switches: [cache]
load: { window: 30s, trim: 2s, slo: { ttft: 500ms } }
engines:
  - name: a
    url: http://127.0.0.1:8000
    start: serve a
    switches: { cache: { off: --no-cache } }
  - name: b
    url: http://127.0.0.1:8001
    start: serve b
    switches: { cache: { on: --cache } }
`;

describe('an experiment file', () => {
  it('is read with its defaults', () => {
    const plan = read(GOOD);
    expect(plan).toMatchObject({
      name: 'two engines',
      repeats: 2,
      levels: [4, 8],
      cooldownSeconds: 5,
      seed: '1',
      load: { windowSeconds: 30, trimSeconds: 2, prefix: 'unique', slo: { ttftSeconds: 0.5, tpotSeconds: null } },
    });
    expect(plan.engines[0]).toMatchObject({ readySeconds: 600, switches: { cache: { on: '', off: '--no-cache' } } });
  });

  it.each([
    {
      id: 'unknown key',
      from: 'repeats: 2',
      to: 'repeat: 2',
      says: 'e.yml:2:1: repeat: is not a key here; did you mean repeats?',
    },
    {
      id: 'unknown key of an engine',
      from: 'start: serve a',
      to: 'command: serve a',
      says: 'e.yml:9:5: engines[0].command: is not a key here',
    },
    { id: 'unknown key of the load', from: 'window: 30s', to: 'windows: 30s', says: 'did you mean window?' },
    { id: 'duration without a unit', from: '30s', to: '30', says: 'load.window: must be a duration' },
    { id: 'not a whole number', from: 'repeats: 2', to: 'repeats: 1.5', says: 'repeats: must be a whole number' },
    {
      id: 'no URL',
      from: 'http://127.0.0.1:8000',
      to: 'localhost',
      says: 'engines[0].url: must be an http:// or https:// URL',
    },
    { id: 'two engines of one name', from: 'name: b', to: 'name: a', says: 'another engine has the same name' },
    { id: 'a switch that does nothing', from: '{ on: --cache }', to: '{}', says: 'on and off are the same' },
    {
      id: 'a switch that is not in the matrix',
      from: 'switches: [cache]',
      to: 'switches: []',
      says: 'is not in switches at the top',
    },
    {
      id: 'a switch without a start command',
      from: '    start: serve b\n',
      to: '',
      says: 'has no start command, so its switch cache cannot be set',
    },
    { id: 'all of the window trimmed', from: 'trim: 2s', to: 'trim: 15s', says: 'nothing of the window is left' },
    {
      id: 'another parallelism',
      from: 'serve b',
      to: 'serve b --tensor-parallel-size 2',
      says: 'parallelism is 2 x 1 x 1 here and 1 x 1 x 1 in a',
    },
  ])('is refused with its line: $id', ({ from, to, says }) => {
    expect(GOOD).toContain(from);
    expect(refusal(GOOD.replace(from, to))).toContain(says);
  });

  it('may say that a difference is meant', () => {
    const text = GOOD.replace('serve b', 'serve b -tp=2');
    expect(refusal(text)).toContain('allow: [parallelism]');
    expect(read(`${text}allow: [parallelism]\n`).allow).toEqual(['parallelism']);
  });

  it('lists everything that is wrong at once, in the order of its lines', () => {
    const lines = refusal(GOOD.replace('repeats: 2', 'repeats: no').replace('[8, 4, 4]', '[0]')).split('\n');
    expect(lines.slice(1)).toEqual([
      expect.stringContaining('e.yml:2:10: repeats'),
      expect.stringContaining('e.yml:3:10: levels[0]: must be at least 1'),
    ]);
  });

  it('is refused when it is no YAML, or nothing', () => {
    expect(refusal('engines: [')).toContain('e.yml:1');
    expect(refusal('')).toContain('is empty');
    expect(refusal('engines: []')).toContain('must hold at least one engine');
  });
});
