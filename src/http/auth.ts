import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { OPEN_PATHS } from './access.ts';
import { sendText } from './headers.ts';

// A fixed hash of nothing that anybody knows: an unknown user takes as long to refuse as a wrong password.
const DUMMY_HASH = '$2b$10$.Q/xc8VUZz28ILUqX4Q3SOSxHQlbhHKdFTsMy1C0PiMHhbgail6/e';
const MOST_CACHED = 100;
// Comparisons under way or waiting; a flood of guesses is turned away, and cannot occupy the processor for long.
const MOST_PENDING = 8;

export interface BasicAuthDependencies {
  /** The users in force: name to bcrypt hash. Empty: nobody is asked. */
  readonly users: () => ReadonlyMap<string, string>;
  readonly verify: (password: string, hash: string) => Promise<boolean>;
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

function readCredentials(header: string | undefined): Credentials | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

const cacheKey = (user: string, hash: string, password: string): string =>
  createHash('sha256')
    .update(JSON.stringify([user, hash, password]))
    .digest('hex');

/**
 * Remembers the outcome of comparisons, good and bad. A scraper that shows the same password every few seconds costs one
 * comparison in the life of the process; the same question asked twice at once is computed once.
 */
function createCheck(deps: BasicAuthDependencies): (credentials: Credentials) => Promise<boolean | 'busy'> {
  const known = new Map<string, boolean>();
  const pending = new Map<string, Promise<boolean>>();

  const remember = (key: string, matches: boolean): void => {
    known.set(key, matches);
    const oldest = known.keys().next().value;
    if (known.size > MOST_CACHED && oldest !== undefined) known.delete(oldest);
  };

  return async ({ user, password }) => {
    const stored = deps.users().get(user);
    const key = cacheKey(user, stored ?? DUMMY_HASH, password);
    const before = known.get(key);
    if (before !== undefined) return before;
    const running = pending.get(key);
    if (running !== undefined) return running;
    if (pending.size >= MOST_PENDING) return 'busy';
    const comparison = deps.verify(password, stored ?? DUMMY_HASH).then((matches) => matches && stored !== undefined);
    pending.set(key, comparison);
    try {
      const matches = await comparison;
      remember(key, matches);
      return matches;
    } finally {
      pending.delete(key);
    }
  };
}

/** Asks everybody for a password, health checks excepted, as long as there are users. */
export function createBasicAuth(deps: BasicAuthDependencies): RequestHandler {
  const check = createCheck(deps);
  return async (request, response, next) => {
    if (deps.users().size === 0 || OPEN_PATHS.has(request.path)) return next();
    const credentials = readCredentials(request.headers.authorization);
    const verdict = credentials === null ? false : await check(credentials);
    if (verdict === true) return next();
    if (verdict === 'busy') {
      response.setHeader('Retry-After', '5');
      return sendText(response, 503, 'too many password checks at once');
    }
    response.setHeader('WWW-Authenticate', 'Basic realm="inference-probe-exporter", charset="UTF-8"');
    sendText(response, 401, 'unauthorized');
  };
}
