import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer, or a function that writes one by itself (and may leave it unfinished). */
export type Document =
  | string
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
    }
  | ((response: ServerResponse) => void);

export interface DocumentServer {
  readonly url: URL;
  /** `METHOD path?query` of each request, in order. */
  readonly requests: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Changes what is served from now on. */
  serve(documents: Readonly<Record<string, Document>>): void;
  close(): Promise<void>;
}

const NOT_FOUND: Document = {
  status: 404,
  headers: { 'content-type': 'application/json' },
  body: '{"detail":"Not Found"}',
};

function answer(response: ServerResponse, document: Document): void {
  if (typeof document === 'function') {
    document(response);
    return;
  }
  const full = typeof document === 'string' ? { body: document } : document;
  response.writeHead(full.status ?? 200, { 'content-type': 'text/plain', ...full.headers });
  response.end(full.body ?? '');
}

/** A loopback server of fixed documents by path (query included where one is asked); everything else is 404. */
export async function documentServer(initial: Readonly<Record<string, Document>>): Promise<DocumentServer> {
  let documents = initial;
  const requests: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    answer(response, documents[request.url ?? ''] ?? NOT_FOUND);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    requests,
    headers,
    serve: (next) => {
      documents = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
