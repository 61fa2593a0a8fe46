import type { Logger } from '../log.ts';
import type { NormalizedPage } from './normalize.ts';
import type { EngineName, EngineRole, PollFailureReason } from './types.ts';

interface Facts {
  readonly restarted: boolean;
  readonly hung: boolean;
  readonly inconsistent: boolean;
}

/** Says each change of an engine's state once; a poll that changes nothing says nothing. */
export interface StateLog {
  up(engine: EngineName, contentTypeOdd: boolean): void;
  down(reason: PollFailureReason, detail: string): void;
  unrecognised(why: string, families: readonly string[]): void;
  page(page: NormalizedPage, facts: Facts): void;
}

export function createStateLog(log: Logger): StateLog {
  let state = '';
  let sources: Partial<Record<EngineRole, string>> = {};
  let unsupported = '';
  let outOfRange = false;
  const last = { hung: false, inconsistent: false, asleep: false };

  const changed = (next: string): boolean => {
    if (state === next) return false;
    state = next;
    return true;
  };

  const flip = (flag: keyof typeof last, now: boolean, says: readonly [on: string, off: string]): void => {
    if (last[flag] === now) return;
    last[flag] = now;
    if (now && flag !== 'asleep') log.warn({}, says[0]);
    else log.info({}, now ? says[0] : says[1]);
  };

  const sayRenames = (page: NormalizedPage): void => {
    for (const [role, source] of Object.entries(page.sources) as [EngineRole, string][]) {
      const before = sources[role];
      if (before !== undefined && before !== source)
        log.info({ role, from: before, to: source }, 'engine metric renamed');
    }
    sources = { ...sources, ...page.sources };
  };

  const sayUnsupported = (page: NormalizedPage): void => {
    const roles = Object.entries(page.supported).flatMap(([role, offered]) => (offered ? [] : [role]));
    const text = roles.join(' ');
    // Less than before is no news: a lazily created series has been born.
    if (text === unsupported || text === '') return;
    unsupported = text;
    log.info({ roles }, 'engine does not offer some metrics');
  };

  return {
    up(engine, contentTypeOdd) {
      if (changed('up')) log.info({ engine, contentTypeOdd }, 'engine page is read');
    },
    down(reason, detail) {
      if (changed(`down ${reason}`)) log.warn({ reason, detail }, 'engine page cannot be read');
    },
    unrecognised(why, families) {
      if (changed(`unrecognised ${why}`)) log.warn({ why, families }, 'engine page is not recognised');
    },
    page(page, facts) {
      sayRenames(page);
      sayUnsupported(page);
      if (facts.restarted) log.info({}, 'engine restarted');
      flip('hung', facts.hung, ['engine hangs: requests but no progress', 'engine makes progress again']);
      flip('inconsistent', facts.inconsistent, [
        'engine counters jump back and forth: several processes answer in turn, poll each by itself',
        'engine counters are consistent again',
      ]);
      flip('asleep', page.asleep, ['engine is asleep', 'engine is awake']);
      if (page.outOfRange > 0 && !outOfRange) log.warn({}, 'engine shows values out of range, which are left out');
      outOfRange = page.outOfRange > 0;
    },
  };
}
