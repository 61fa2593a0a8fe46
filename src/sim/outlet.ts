import type { ServerResponse } from 'node:http';

/** Where the events of a stream go. */
export interface Outlet {
  /** False when the client reads too slowly and the next piece should wait for `drain`. */
  write(text: string): boolean;
  end(text: string): void;
  /** The connection is reset in the middle of whatever it carries. */
  reset(): void;
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' };

/** Straight to the socket. The headers leave at once, as with vLLM: from a hung engine they are all a client gets. */
export function directOutlet(response: ServerResponse): Outlet {
  response.writeHead(200, STREAM_HEADERS);
  response.flushHeaders();
  return {
    write: (text) => response.write(text),
    end: (text) => void response.end(text),
    reset: () => void response.destroy(),
  };
}

/** To a heap that leaves in one lump, headers and all, when the answer is complete: a proxy that buffers. */
export function bufferedOutlet(response: ServerResponse): Outlet {
  const heap: string[] = [];
  return {
    write: (text) => heap.push(text) > 0,
    end(text) {
      response.writeHead(200, STREAM_HEADERS);
      response.end(heap.join('') + text);
    },
    reset: () => void response.destroy(),
  };
}
