import { describe, expect, it } from 'vitest';
import { createLateLogger } from '../../../src/cli/late-logger.ts';
import type { LogFields, Logger } from '../../../src/log.ts';

function collector(): { readonly lines: string[]; readonly log: Logger } {
  const lines: string[] = [];
  const make = (path: LogFields): Logger => {
    const at =
      (level: string) =>
      (fields: LogFields, message: string): void =>
        void lines.push(`${level} ${message} ${JSON.stringify({ ...path, ...fields })}`);
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...path, ...fields }),
    };
  };
  return { lines, log: make({}) };
}

describe('a logger for the time before it is known how to log', () => {
  it('keeps lines, also of children, and writes them in order once it is known', () => {
    const late = createLateLogger();
    const { lines, log } = collector();
    late.info({ n: 1 }, 'first');
    late.child({ target: 'a' }).child({ profile: 'b' }).warn({ n: 2 }, 'second');
    expect(lines).toEqual([]);
    late.settle(log);
    late.error({}, 'third');
    expect(lines).toEqual(['info first {"n":1}', 'warn second {"target":"a","profile":"b","n":2}', 'error third {}']);
  });

  it('lets children follow when the logger is replaced', () => {
    const late = createLateLogger();
    const [one, two] = [collector(), collector()];
    late.settle(one.log);
    const child = late.child({ target: 'a' });
    child.info({}, 'to the first');
    late.settle(two.log);
    child.info({}, 'to the second');
    expect([one.lines, two.lines]).toEqual([
      ['info to the first {"target":"a"}'],
      ['info to the second {"target":"a"}'],
    ]);
  });
});
