import type { LogFields, Logger } from '../log.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** A logger for the time before the configuration says how to log: it keeps what it is given, and then passes it on. */
export interface LateLogger extends Logger {
  /** Writes what was kept, and everything from now on, to `target`. May be called again after a reload. */
  settle(target: Logger): void;
}

export function createLateLogger(): LateLogger {
  let root: Logger | null = null;
  let kept: (() => void)[] = [];

  /** `path`: the fields of the children on the way here; a new target gets its own children. */
  const make = (path: readonly LogFields[]): Logger => {
    let madeFor: Logger | null = null;
    let made: Logger | null = null;
    const current = (target: Logger): Logger => {
      if (madeFor !== target || made === null) {
        madeFor = target;
        made = path.reduce((parent, fields) => parent.child(fields), target);
      }
      return made;
    };
    const at =
      (level: Level) =>
      (fields: LogFields, message: string): void => {
        if (root === null) kept.push(() => root !== null && current(root)[level](fields, message));
        else current(root)[level](fields, message);
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make([...path, fields]),
    };
  };

  return {
    ...make([]),
    settle: (target) => {
      root = target;
      for (const write of kept) write();
      kept = [];
    },
  };
}
