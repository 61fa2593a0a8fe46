import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiFailure } from './api-request.ts';
import { errorBody } from './wire.ts';

const LONGEST_BODY_BYTES = 16 * 1024 * 1024;

export function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json', JSON.stringify(value));
}

/** vLLM's error object with its status. */
export function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  send(response, status, 'application/json', errorBody(status, type, message, null));
}

export function sendFailure(response: ServerResponse, failure: ApiFailure): void {
  const { status, type, message, param } = failure;
  send(response, status, 'application/json', errorBody(status, type, message, param));
}

/** The request's body as decoded JSON. Throws `ApiFailure` when it is too large or no JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > LONGEST_BODY_BYTES) throw new ApiFailure(413, 'BadRequestError', 'The body is too large.', null);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new ApiFailure(400, 'Bad Request', "1 validation error:\n  {'type': 'json_invalid', 'loc': 'body'}", 'body');
  }
}
