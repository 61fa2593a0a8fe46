import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type RigOptions, withRig } from '../../support/probe-rig.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';
import { GOOD_STREAM, respond } from '../../support/stream-text.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const TLS = { cert: readFileSync(fixture('server.pem')), key: readFileSync(fixture('server-key.pem')) };
const TRUST = { caFile: fixture('ca.pem') };

/** A proxy that opens the tunnel when `answer` is null, and otherwise says that. `heads`: what it was asked. */
async function startProxy(answer: string | null) {
  const heads: string[] = [];
  const tunnel = (client: Socket, head: string): void => {
    const [, host = '', port = ''] = /^CONNECT (.+):(\d+) /.exec(head) ?? [];
    const upstream = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  };
  const server = await startScriptedServer({
    onConnection: (socket) => {
      socket.once('data', (bytes) => {
        heads.push(bytes.toString('latin1'));
        if (answer === null) tunnel(socket, heads.at(-1) ?? '');
        else socket.end(answer);
      });
      return true;
    },
  });
  return { ...server, heads };
}

const through = (proxyUrl: string, more: Partial<RigOptions> = {}): RigOptions => ({
  script: () => GOOD_STREAM,
  target: { connection: { ...TRUST, proxyUrl } },
  ...more,
});

describe('a proxy', () => {
  test('is asked for a tunnel to an https target, with its own credentials and none of the target', async () => {
    const proxy = await startProxy(null);
    const options = through(`http://user:p%40ss@127.0.0.1:${proxy.port}`, { tls: TLS });
    await withRig(
      { ...options, target: { ...options.target, apiKey: () => 'sk-canary' } },
      async ({ good, server }) => {
        const outcome = await good();
        expect(outcome.phases.tls).toBeGreaterThan(0);
        expect(proxy.heads[0]).toContain(`CONNECT 127.0.0.1:${server.port} HTTP/1.1`);
        expect(proxy.heads[0]?.toLowerCase()).toContain(
          `proxy-authorization: basic ${btoa('user:p@ss').toLowerCase()}`,
        );
        expect(proxy.heads[0]).not.toContain('sk-canary');
        expect(server.requests[0]?.headers['proxy-authorization']).toBeUndefined();
        expect((await good()).connection).toBe('reused');
        expect(proxy.connections()).toBe(1);
      },
    );
    await proxy.quiet();
    await proxy.close();
  });

  test('gets the whole URL of an http target', async () => {
    const proxy = await startScriptedServer({ script: () => GOOD_STREAM });
    const options = {
      target: { url: 'http://engine.test:8000', connection: { proxyUrl: `http://a:b@127.0.0.1:${proxy.port}` } },
    };
    await withRig(options, async ({ good }) => {
      await good();
      const [request] = proxy.requests;
      expect(request?.line).toBe('POST http://engine.test:8000/v1/chat/completions HTTP/1.1');
      expect(request?.headers).toMatchObject({
        host: 'engine.test:8000',
        'proxy-authorization': `Basic ${btoa('a:b')}`,
      });
    });
    await proxy.quiet();
    await proxy.close();
  });

  test('may be spoken to over TLS', async () => {
    const proxy = await startScriptedServer({ script: () => GOOD_STREAM, tls: TLS });
    const connection = { ...TRUST, proxyUrl: `https://127.0.0.1:${proxy.port}` };
    await withRig({ target: { url: 'http://engine.test', connection } }, async ({ good }) => {
      await good();
      expect(proxy.requests[0]?.line).toBe('POST http://engine.test/v1/chat/completions HTTP/1.1');
    });
    await proxy.quiet();
    await proxy.close();
  });

  test.each([
    [407, 'unauthorized'],
    [403, 'forbidden'],
    [502, 'bad_gateway'],
    [504, 'gateway_timeout'],
  ])('that refuses the tunnel with %i is the reason', async (status, reason) => {
    const proxy = await startProxy(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    await withRig(through(`http://127.0.0.1:${proxy.port}`, { tls: TLS }), async ({ failed }) => {
      expect((await failed()).failure).toMatchObject({ reason, detail: { proxy_status: status } });
    });
    await proxy.close();
  });

  test('that hangs up is a lost connection', async () => {
    const proxy = await startProxy('');
    await withRig(through(`http://127.0.0.1:${proxy.port}`, { tls: TLS }), async ({ failed }) => {
      expect((await failed()).failure.reason).toBe('connection_lost');
    });
    await proxy.close();
  });

  test('of a kind that we do not speak is a fault of the configuration', async () => {
    await withRig(through('socks5://127.0.0.1:1080'), async ({ failed }) => {
      expect((await failed()).failure.reason).toBe('internal');
    });
  });

  test('of the environment is not used unless it is asked for', async () => {
    const environment = { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1' };
    await withRig({ script: () => GOOD_STREAM, dependencies: { environment } }, async ({ good, server }) => {
      await good();
      expect(server.requests[0]?.line).toBe('POST /v1/chat/completions HTTP/1.1');
    });
  });

  test('of the environment is used when asked for, but not for what NO_PROXY names', async () => {
    const proxy = await startScriptedServer({ script: () => respond(403, {}, '') });
    const environment = { HTTP_PROXY: `127.0.0.1:${proxy.port}` };
    await withRig(through('env', { dependencies: { environment } }), async ({ failed }) => {
      expect((await failed()).failure.reason).toBe('forbidden');
    });
    const direct = { ...environment, NO_PROXY: 'localhost, 127.0.0.0/8' };
    await withRig(through('env', { dependencies: { environment: direct } }), async ({ good }) => {
      expect((await good()).httpStatus).toBe(200);
    });
    expect(proxy.requests).toHaveLength(1);
    await proxy.quiet();
    await proxy.close();
  });
});
