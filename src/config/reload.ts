import { createHash } from 'node:crypto';
import type { Clock, Timer } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { elapsed, type Seconds, seconds } from '../units.ts';
import { type ConfigFiles, describeReadFailure } from './files.ts';
import type { LoadResult } from './load.ts';
import type { Config, Secret } from './types.ts';

const EVERY = seconds(5);
// A secret file may have been mended meanwhile, which does not change the configuration file.
const RETRY_EVERY = seconds(60);
// Editors and deploy tools empty, write and rename within a moment; half of a file must not be judged.
const DEBOUNCE = seconds(0.5);

/** What a reload came to. */
export type ReloadOutcome = { readonly ok: true } | { readonly ok: false; readonly message: string };

export interface ConfigWatcherOptions {
  /** The file; null for the environment form, which only has secrets to watch. */
  readonly path: string | null;
  /** What is running. */
  readonly initial: Config;
  /** How often to look. Polling also sees what inotify does not: subPath mounts, NFS, every `..data` swap. */
  readonly every?: Seconds;
  /** For how long the contents must stay the same before they are read. */
  readonly debounce?: Seconds;
}

export interface ConfigWatcherDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly files: ConfigFiles;
  /** Reads and checks the configuration; throws when it cannot be used. */
  readonly load: () => LoadResult;
  /** Puts a new configuration into force. */
  readonly apply: (result: LoadResult) => Promise<void>;
  /** Told of every attempt, for the reload metrics. */
  readonly onReload: (outcome: ReloadOutcome) => void;
}

/** Looks after the configuration of a running program. A configuration that cannot be used never replaces one that can. */
export interface ConfigWatcher {
  start(): void;
  close(): void;
  /** Reads the file now, whatever was seen before: SIGHUP, `POST /-/reload`. Never rejects. */
  reload(): Promise<ReloadOutcome>;
}

/** Contents of a file as a fingerprint; a file that is gone or empty has one too, which is never loaded. */
function fingerprint(path: string, files: ConfigFiles): { readonly id: string; readonly problem: string | null } {
  try {
    const bytes = files.read(path);
    const empty = bytes.byteLength === 0 || !bytes.some((byte) => byte > 0x20);
    return { id: createHash('sha256').update(bytes).digest('hex'), problem: empty ? 'is empty' : null };
  } catch (error) {
    const problem = describeReadFailure(error);
    return { id: problem, problem };
  }
}

const secretsOf = (config: Config): readonly Secret[] =>
  config.targets.flatMap((target) => [
    ...(target.apiKey === null ? [] : [target.apiKey]),
    ...Object.values(target.secretHeaders),
  ]);

const messageOf = (error: unknown): string => {
  if (error instanceof ProbeExporterError) return error.message;
  return `cannot be put into force (${error instanceof Error ? error.name : typeof error})`;
};

export function createConfigWatcher(options: ConfigWatcherOptions, deps: ConfigWatcherDependencies): ConfigWatcher {
  const { path, every = EVERY, debounce = DEBOUNCE } = options;
  const { clock, log, files } = deps;
  let running = options.initial;
  let settled = path === null ? '' : fingerprint(path, files).id;
  let pending: string | null = null;
  /** What is wrong now. */
  let failing: string | null = null;
  let attemptedAt = clock.monotonic();
  let timer: Timer | null = null;
  let closed = false;
  let busy: Promise<ReloadOutcome> | null = null;

  const fail = (message: string, asked: boolean): ReloadOutcome => {
    if (asked || failing !== message) {
      log.error(
        { source: path ?? 'environment', problem: message },
        'configuration not reloaded, the running one stays',
      );
      deps.onReload({ ok: false, message });
    }
    failing = message;
    return { ok: false, message };
  };

  const attempt = async (asked: boolean): Promise<ReloadOutcome> => {
    attemptedAt = clock.monotonic();
    const now = path === null ? null : fingerprint(path, files);
    // An empty or missing file would be "no targets": every series, and with them every alert, would go silently.
    if (now !== null) settled = now.id;
    if (now?.problem) return fail(`configuration ${path} ${now.problem}`, asked);
    try {
      const result = deps.load();
      await deps.apply(result);
      running = result.config;
    } catch (error) {
      return fail(messageOf(error), asked);
    }
    failing = null;
    log.info({ source: path ?? 'environment', targets: running.targets.length }, 'configuration reloaded');
    deps.onReload({ ok: true });
    return { ok: true };
  };

  /** One reload at a time; who asks meanwhile gets the answer of a new one, since the file may have changed again. */
  const reload = async (asked: boolean): Promise<ReloadOutcome> => {
    while (busy !== null) await busy;
    if (closed) return { ok: false, message: 'shutting down' };
    busy = attempt(asked).finally(() => {
      busy = null;
    });
    return busy;
  };

  const lookAtSecrets = (): void => {
    for (const secret of secretsOf(running)) secret.refresh();
  };

  const look = async (): Promise<Seconds> => {
    lookAtSecrets();
    if (path === null) return every;
    const { id } = fingerprint(path, files);
    const changed = id !== settled;
    if (changed && id !== pending) {
      pending = id;
      return debounce;
    }
    const retry = failing !== null && elapsed(attemptedAt, clock.monotonic()) >= RETRY_EVERY;
    if (changed || retry) await reload(false);
    pending = null;
    return every;
  };

  const arm = (delay: Seconds): void => {
    if (closed) return;
    timer = clock.setTimer(delay, () => void look().then(arm));
  };

  return {
    start: () => arm(every),
    close: () => {
      closed = true;
      timer?.cancel();
    },
    reload: () => reload(true),
  };
}
