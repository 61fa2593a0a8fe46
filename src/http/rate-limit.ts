import type { RequestHandler } from 'express';
import type { Clock } from '../clock.ts';
import { elapsed } from '../units.ts';
import { OPEN_PATHS } from './access.ts';
import { sendText } from './headers.ts';

/** A bucket of tokens for all clients together, as in exporter-toolkit. Health checks take none. */
export function createRateLimit(
  limit: () => { readonly everySeconds: number; readonly burst: number } | null,
  clock: Clock,
): RequestHandler {
  let tokens = Number.POSITIVE_INFINITY;
  let since = clock.monotonic();
  return (request, response, next) => {
    const current = limit();
    if (current === null || OPEN_PATHS.has(request.path)) return next();
    const now = clock.monotonic();
    tokens = Math.min(current.burst, tokens + elapsed(since, now) / current.everySeconds);
    since = now;
    if (tokens < 1) {
      response.setHeader('Retry-After', String(Math.ceil(current.everySeconds)));
      return sendText(response, 429, 'too many requests');
    }
    tokens -= 1;
    next();
  };
}
