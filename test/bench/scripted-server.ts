import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_STREAMS, type ApiStream } from './api-streams.ts';

/**
 * The server of the bench, a process of its own: streams tokens at a fixed pace and stamps each one with
 * CLOCK_MONOTONIC just before it hands it to the socket. Linux gives every process the same clock, so a client's stamp
 * of the arrival minus the server's is what lies between: the server's write, the kernel, and the client's own delay.
 *
 * Usage: scripted-server.ts FIRST_TOKEN_MS GAP_MS [PAGE_FILE]; prints {"port": N}.
 * `GET /stamps` gives the stamps of the streams finished since the last call, by the request's id.
 */
const [firstTokenMs = 100, gapMs = 20] = process.argv.slice(2, 4).map(Number);
const enginePage = process.argv[4] === undefined ? '' : readFileSync(process.argv[4], 'utf8');

interface Stamps {
  /** Nanoseconds, as strings: they do not fit into a double. */
  readonly received: string;
  readonly sent: string[];
}
let finished: Record<string, Stamps> = {};
let unnamed = 0;

const now = (): string => process.hrtime.bigint().toString();

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

/** Probes carry a trace id, the comparison clients an id of their own, those that send none are given one. */
function requestId(request: IncomingMessage): string {
  const [, fromQuery] = /[?&]id=([^&]*)/.exec(request.url ?? '') ?? [];
  if (fromQuery !== undefined) return fromQuery;
  const trace = /^00-([0-9a-f]{32})-/.exec(String(request.headers.traceparent ?? ''));
  unnamed += 1;
  return trace?.[1] ?? String(request.headers['x-request-id'] ?? `unnamed-${unnamed}`);
}

async function stream(request: IncomingMessage, response: ServerResponse, api: ApiStream): Promise<void> {
  const stamps: Stamps = { received: now(), sent: [] };
  const tokens = api.wantedTokens(await readBody(request));
  response.writeHead(200, { 'content-type': api.contentType });
  response.flushHeaders();
  response.write(api.opening());
  // The timetable is absolute, so that a late timer does not stretch the stream. Streams that began together part:
  // real ones are not in step, and in step they would measure how long this process needs to write to all of them.
  const start = performance.now() + firstTokenMs * (0.5 + Math.random());
  for (let index = 0; index < tokens; index += 1) {
    await sleep(Math.max(0, start + index * gapMs - performance.now()));
    if (response.destroyed) return;
    const event = api.token(index);
    stamps.sent.push(now());
    response.write(event);
  }
  response.end(api.closing(tokens));
  finished[requestId(request)] = stamps;
}

function plain(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}

const server = createServer((request, response) => {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  if (path === '/stamps') {
    plain(response, 'application/json', JSON.stringify(finished));
    finished = {};
  } else if (path === '/metrics') plain(response, 'text/plain; version=0.0.4', enginePage);
  else if (path === '/version') plain(response, 'application/json', '{"version":"0.32.0"}');
  else if (path === '/health') plain(response, 'application/json', '');
  else if (path === '/v1/models') {
    plain(response, 'application/json', '{"object":"list","data":[{"id":"bench","object":"model","owned_by":"vllm"}]}');
  } else {
    const api = API_STREAMS.find((candidate) => candidate.path.test(path));
    if (request.method !== 'POST' || api === undefined) response.writeHead(404).end();
    else stream(request, response, api).catch(() => response.destroy());
  }
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', 4096, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
