import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { silentLogger } from '../log.ts';
import { createProber } from '../probe/prober.ts';
import type { ConnectionSettings, ProbeProfile } from '../probe/profile.ts';
import { seconds } from '../units.ts';

const EVENTS = 16;

/** A short answer in the shape of the completions API. */
function answer(): string {
  const token = `data: ${JSON.stringify({ choices: [{ index: 0, text: 'a', finish_reason: null }] })}\n\n`;
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, text: '', finish_reason: 'length' }] })}\n\ndata: [DONE]\n\n`;
  return token.repeat(EVENTS) + end;
}

/**
 * One probe of a server inside of this process. The first request of a process takes some 20 ms more than any later
 * one (code is loaded and compiled, the first socket is set up); without this a single probe would blame the endpoint
 * for it. Whatever goes wrong here does not matter.
 */
export async function rehearse(
  profile: ProbeProfile,
  connection: ConnectionSettings,
  deps: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(answer());
    });
  });
  await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(0, '127.0.0.1', resolve));
  const port = (server.address() as AddressInfo | null)?.port;
  const target = {
    name: 'rehearsal',
    url: new URL(`http://127.0.0.1:${port ?? 1}`),
    model: 'rehearsal',
    api: 'completions',
    engine: null,
    apiKey: () => null,
    headers: {},
    connection: { ...connection, proxyUrl: null },
  } as const;
  const prober = createProber(
    {
      target,
      profile: { ...profile, expect: { ...profile.expect, minTokens: null } },
      disturbedAfterSeconds: seconds(1),
    },
    { clock: deps.clock, log: silentLogger() },
  );
  await prober.probe({ signal: deps.signal, traceparent: false });
  await prober.close();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
