import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event of PagerDuty's Events API v2, as Alertmanager sends it. */
export interface PagerEvent {
  readonly receivedAt: number;
  readonly routing_key: string;
  readonly event_action: 'trigger' | 'resolve';
  readonly dedup_key: string;
  readonly client?: string;
  readonly client_url?: string;
  readonly payload: {
    readonly summary: string;
    readonly source: string;
    readonly severity: string;
    readonly component?: string;
    readonly group?: string;
    readonly class?: string;
    readonly custom_details?: Readonly<Record<string, unknown>>;
  };
  readonly links?: readonly { readonly href: string; readonly text: string }[];
}

/** A ticket as the webhook receiver gets it. */
export interface Ticket {
  readonly receivedAt: number;
  readonly status: string;
  readonly groupLabels: Readonly<Record<string, string>>;
}

export interface Recorder {
  readonly url: string;
  readonly events: readonly PagerEvent[];
  readonly tickets: readonly Ticket[];
  readonly heartbeats: number;
  /** What was refused, with the reason: an event that the real API would not take. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

const SEVERITIES = ['critical', 'error', 'warning', 'info'];

/** The rules of the real API that Alertmanager's events can break. */
function problem(event: PagerEvent): string | null {
  if (!event.routing_key) return 'no routing_key';
  if (!['trigger', 'resolve'].includes(event.event_action)) return `event_action ${event.event_action}`;
  if (!event.dedup_key || event.dedup_key.length > 255) return 'dedup_key';
  if (event.event_action === 'resolve') return null;
  if (!SEVERITIES.includes(event.payload.severity)) return `severity "${event.payload.severity}"`;
  if (!event.payload.summary || event.payload.summary.length > 1024) return 'summary';
  return event.payload.source ? null : 'no source';
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

/** Speaks PagerDuty's Events API v2 on /v2/enqueue and takes webhooks on /tickets and /dead-man. */
export async function startRecorder(): Promise<Recorder> {
  const events: PagerEvent[] = [];
  const tickets: Ticket[] = [];
  const refused: string[] = [];
  let heartbeats = 0;
  const take = (path: string | undefined, text: string): number => {
    const body = JSON.parse(text);
    const receivedAt = performance.now() / 1000;
    if (path === '/dead-man') heartbeats += 1;
    else if (path === '/tickets') tickets.push({ ...body, receivedAt });
    else {
      const wrong = problem(body);
      if (wrong !== null) {
        refused.push(`${wrong}: ${text.slice(0, 500)}`);
        return 400;
      }
      events.push({ ...body, receivedAt });
    }
    return 202;
  };
  const server = createServer(async (request, response) => {
    response.statusCode = take(request.url, await bodyOf(request));
    response.end('{"status":"success","message":"Event processed"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    events,
    tickets,
    refused,
    get heartbeats() {
      return heartbeats;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
