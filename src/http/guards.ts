import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from '../log.ts';
import { sendText } from './headers.ts';

/** No route reads a body; this much is tolerated and thrown away. */
const MOST_BODY_BYTES = 4096;

/** Throws request bodies away as they come, and hangs up on one that does not end. */
export const discardBody: RequestHandler = (request, response, next) => {
  let bytes = 0;
  const refuse = (): void => {
    request.off('data', count);
    // The answer may be on its way already; then all that is left is to hang up.
    if (response.headersSent) {
      request.socket.destroy();
      return;
    }
    response.setHeader('Connection', 'close');
    response.once('finish', () => request.socket.destroy());
    sendText(response, 413, 'request body too large');
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) refuse();
  };
  if (Number(request.headers['content-length'] ?? 0) > MOST_BODY_BYTES) return refuse();
  request.on('data', count);
  next();
};

/** A browser on another site may send a POST here, but then it says from where. */
export const sameOriginOnly: RequestHandler = (request, response, next) => {
  const site = request.headers['sec-fetch-site'];
  const { origin, host } = request.headers;
  const foreignOrigin = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
  if (foreignOrigin || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    sendText(response, 403, 'cross-origin requests are refused');
    return;
  }
  next();
};

/** For every method but those of the route. */
export const methodNotAllowed =
  (allowed: string): RequestHandler =>
  (_request, response) => {
    response.setHeader('Allow', allowed);
    sendText(response, 405, 'method not allowed');
  };

export const notFound: RequestHandler = (_request, response) => {
  sendText(response, 404, 'not found');
};

const statusOf = (error: unknown): number => {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
};

/**
 * Express's own handler would answer with the error's text. An answer that has begun is cut off instead, so that a
 * scraper sees a failed scrape and not half a page.
 */
export const errorHandler =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const status = statusOf(error);
    if (status === 500) {
      const name = error instanceof Error ? error.name : typeof error;
      const message = error instanceof Error ? error.message : '';
      log.error({ path: request.path, error: name, detail: message.slice(0, 200) }, 'a request could not be answered');
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    sendText(response, status, status === 500 ? 'internal error' : 'bad request');
  };
