import { describe, expect, it } from 'vitest';
import { loadConfigFile } from '../../../src/config/load.ts';
import { createConfigWatcher, type ReloadOutcome } from '../../../src/config/reload.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { memoryFiles, memoryLog, TARGET } from './support.ts';

const PATH = '/etc/probe/config.yml';
const OTHER = TARGET.replace('name: a', 'name: b');

function setUp(
  options: {
    readonly apply?: () => Promise<void>;
    readonly others?: Readonly<Record<string, string>>;
    readonly text?: string;
  } = {},
) {
  const files = memoryFiles({ ...options.others, [PATH]: options.text ?? TARGET });
  const clock = manualClock();
  const log = memoryLog();
  const applied: string[] = [];
  const outcomes: ReloadOutcome[] = [];
  const load = () => loadConfigFile(PATH, { environment: {}, files, log });
  const watcher = createConfigWatcher(
    { path: PATH, initial: load().config },
    {
      clock,
      log,
      files,
      load,
      apply: async (result) => {
        await options.apply?.();
        applied.push(result.config.targets.map((target) => target.name).join());
      },
      onReload: (outcome) => outcomes.push(outcome),
    },
  );
  watcher.start();
  return { files, clock, log, applied, outcomes, watcher };
}

describe('a running configuration', () => {
  it('is replaced after the file changed and stayed the same for a moment', async () => {
    const { files, clock, applied, outcomes } = setUp();
    files.write(PATH, OTHER);
    await clock.advance(5);
    expect(applied).toEqual([]);
    await clock.advance(0.5);
    expect(applied).toEqual(['b']);
    expect(outcomes).toEqual([{ ok: true }]);
  });

  it('is left alone when the file was only touched', async () => {
    const { files, clock, outcomes } = setUp();
    files.write(PATH, TARGET);
    await clock.advance(60);
    expect(outcomes).toEqual([]);
  });

  it('is not judged by half of a file that is still being written', async () => {
    const { files, clock, applied, outcomes } = setUp();
    files.write(PATH, OTHER.slice(0, 20));
    await clock.advance(5.2);
    files.write(PATH, OTHER);
    await clock.advance(5);
    expect(applied).toEqual(['b']);
    expect(outcomes).toEqual([{ ok: true }]);
  });

  it('G-170: stays when the file is removed for a moment, without a word', async () => {
    const { files, clock, outcomes, log } = setUp();
    files.remove(PATH);
    await clock.advance(5.2);
    files.write(PATH, TARGET);
    await clock.advance(20);
    expect(outcomes).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it('G-170: stays when the file is gone for good, and says so once', async () => {
    const { files, clock, applied, outcomes } = setUp();
    files.remove(PATH);
    await clock.advance(300);
    expect(applied).toEqual([]);
    expect(outcomes).toEqual([{ ok: false, message: `configuration ${PATH} does not exist` }]);
    files.write(PATH, TARGET);
    await clock.advance(10);
    expect(outcomes.at(-1)).toEqual({ ok: true });
  });

  it.each([
    ['emptied', ''],
    ['blank', ' \n\n'],
  ])('G-170: stays when the file is %s', async (_, text) => {
    const { files, clock, applied, outcomes } = setUp();
    files.write(PATH, text);
    await clock.advance(30);
    expect(applied).toEqual([]);
    expect(outcomes).toEqual([{ ok: false, message: `configuration ${PATH} is empty` }]);
  });

  it('G-170: stays when the new file is wrong, says what is wrong once, and recovers when it is mended', async () => {
    const { files, clock, applied, outcomes, log } = setUp();
    files.write(PATH, 'targets: []\n');
    await clock.advance(180);
    expect(applied).toEqual([]);
    expect(outcomes).toEqual([
      { ok: false, message: expect.stringContaining(`${PATH}:1:10: targets: must hold at least one target`) },
    ]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    files.write(PATH, OTHER);
    await clock.advance(10);
    expect(applied).toEqual(['b']);
    expect(outcomes.at(-1)).toEqual({ ok: true });
  });

  it('is tried again when what it refers to is mended, though the file itself does not change', async () => {
    const { files, clock, applied, outcomes } = setUp({ others: { '/etc/probe/key': 'sk-1' } });
    files.write('/etc/probe/key', '“sk-1”');
    files.write(PATH, `${OTHER}    api_key_file: key\n`);
    await clock.advance(10);
    expect(outcomes).toEqual([{ ok: false, message: expect.stringContaining('not ASCII at character 1') }]);
    files.write('/etc/probe/key', 'sk-1');
    await clock.advance(70);
    expect(applied).toEqual(['b']);
  });

  it('stays when the new one cannot be put into force, with the error told without its text', async () => {
    const { files, clock, outcomes } = setUp({ apply: () => Promise.reject(new TypeError('sk-canary')) });
    files.write(PATH, OTHER);
    await clock.advance(10);
    expect(outcomes).toEqual([{ ok: false, message: 'cannot be put into force (TypeError)' }]);
  });
});

describe('a reload that is asked for', () => {
  it('happens at once, also when nothing changed', async () => {
    const { watcher, applied } = setUp();
    expect(await watcher.reload()).toEqual({ ok: true });
    expect(applied).toEqual(['a']);
  });

  it('answers with what is wrong, each time', async () => {
    const { watcher, files, outcomes } = setUp();
    files.write(PATH, 'targets: 5\n');
    const answers = [await watcher.reload(), await watcher.reload()];
    expect(answers.every((answer) => !answer.ok)).toBe(true);
    expect(outcomes).toEqual(answers);
  });

  it('waits for one that is under way, and never runs beside it', async () => {
    let running = 0;
    let most = 0;
    const { watcher, applied } = setUp({
      apply: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      },
    });
    await Promise.all([watcher.reload(), watcher.reload(), watcher.reload()]);
    expect(most).toBe(1);
    expect(applied).toHaveLength(3);
  });

  it('is refused while shutting down', async () => {
    const { watcher } = setUp();
    watcher.close();
    expect(await watcher.reload()).toEqual({ ok: false, message: 'shutting down' });
  });
});

describe('the watcher', () => {
  it('leaves no timer behind', async () => {
    const { watcher, clock } = setUp();
    expect(clock.pendingTimers()).toBe(1);
    watcher.close();
    await clock.advance(60);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('notices a secret that was rotated, without reloading', async () => {
    const { files, clock, log, outcomes } = setUp({
      text: `${TARGET}    api_key_file: key\n`,
      others: { '/etc/probe/key': 'sk-1' },
    });
    files.write('/etc/probe/key', 'sk-2');
    await clock.advance(20);
    expect(log.lines.map(({ message }) => message)).toEqual(['secret changed']);
    expect(outcomes).toEqual([]);
  });
});
