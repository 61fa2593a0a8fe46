import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Compares passwords with bcrypt hashes. */
export interface PasswordVerifier {
  verify(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
}

// Put in by the bundler (scripts/build.mjs); absent when the sources run.
declare const __BCRYPT_SOURCE__: string | undefined;

const bcryptSource = (): string =>
  typeof __BCRYPT_SOURCE__ === 'string'
    ? __BCRYPT_SOURCE__
    : readFileSync(createRequire(import.meta.url).resolve('bcryptjs'), 'utf8');

// The thread lives only as long as it has something to do: it costs memory.
const program = (source: string): string => `
const { parentPort } = require('node:worker_threads');
const loaded = { exports: {} };
((module, exports, define) => { ${source}
})(loaded, loaded.exports, undefined);
parentPort.on('message', ({ id, password, hash }) => {
  parentPort.postMessage({ id, matches: loaded.exports.compareSync(password, hash) });
});`;

interface Answer {
  readonly id: number;
  readonly matches: boolean;
}

/**
 * bcrypt in a thread of its own. One comparison takes some 70 ms of pure computing; on the main thread that would delay
 * the tokens of every probe in flight. The thread starts with the first comparison and ends with the last one pending.
 */
export function createPasswordVerifier(): PasswordVerifier {
  let worker: Worker | null = null;
  let next = 0;
  const pending = new Map<number, { resolve: (matches: boolean) => void; reject: (error: unknown) => void }>();

  function stop(error: unknown): void {
    const stopped = worker;
    worker = null;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    void stopped?.terminate();
  }

  function start(): Worker {
    const created = new Worker(program(bcryptSource()), {
      eval: true,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    });
    created.on('message', ({ id, matches }: Answer) => {
      pending.get(id)?.resolve(matches);
      pending.delete(id);
      if (pending.size === 0) stop(null);
    });
    created.on('error', stop);
    created.unref();
    return created;
  }

  return {
    verify(password, hash) {
      worker ??= start();
      const thread = worker;
      next += 1;
      const id = next;
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject });
        thread.postMessage({ id, password, hash });
      });
    },
    async close() {
      const stopped = worker;
      stop(new Error('closed'));
      await stopped?.terminate();
    },
  };
}
