import type { RequestHandler, Response } from 'express';

/**
 * Nothing but the page's own files may run, style or be fetched, and nobody may frame it. Everything that the exporter
 * serves carries the policy: a browser that takes a metrics page for markup has nothing to execute either.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Puts the security headers on every answer, then those that the web configuration names. */
export function securityHeaders(configured: () => Readonly<Record<string, string>>): RequestHandler {
  return (_request, response, next) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    for (const [name, value] of Object.entries(configured())) response.setHeader(name, value);
    next();
  };
}

/** Answers with a line of text. */
export function sendText(response: Response, status: number, text: string): void {
  response.status(status).setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}

/** Answers with JSON. Written by hand: express would add an entity tag and its own ideas of formatting. */
export function sendJson(response: Response, status: number, value: unknown): void {
  response.status(status).setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(`${JSON.stringify(value)}\n`);
}
