import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../src/http/server.ts';
import { seconds } from '../../../src/units.ts';
import { ask, httpDependencies, runServer } from '../../support/http-under-test.ts';
import { sampleConfig } from '../../support/sample-config.ts';

async function rawConnection(port: number, text: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  const answer = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received));
  });
  socket.write(text);
  return { socket, answer };
}

/** Resolves `asked` once a request has got as far as its handler. */
function anAsking(): { readonly asked: Promise<void>; readonly note: () => void } {
  let note = (): void => {};
  const asked = new Promise<void>((resolve) => {
    note = resolve;
  });
  return { asked, note: () => note() };
}

describe('limits', () => {
  it('a request body is not read to the end of the world', async () => {
    await using running = await runServer({ actions: { reload: async () => ({ ok: true }) } });
    const big = await ask(running.port, 'POST', '/-/reload', { 'content-length': '10000000' }).catch(
      (error: Error) => error.message,
    );
    expect(typeof big === 'string' ? big : big.status).toBe(413);
  });

  it('a body of unknown length is cut off', async () => {
    await using running = await runServer();
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const { answer } = await rawConnection(
      running.port,
      `POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 (404|413)/);
  });

  it('headers beyond 8 KiB are refused', async () => {
    await using running = await runServer();
    const answer = await ask(running.port, 'GET', '/metrics', { 'x-long': 'y'.repeat(9000) });
    expect(answer.status).toBe(431);
  });

  it('a request that is no HTTP is a 400', async () => {
    await using running = await runServer();
    const { answer } = await rawConnection(running.port, 'hello\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 400/);
  });

  it('a page of several megabytes arrives whole, in pieces', async () => {
    const chunks = Array.from({ length: 300 }, (_, index) => `chunk ${index} ${'z'.repeat(10_000)}\n`);
    const metrics = { render: async () => ({ contentType: 'text/plain', chunks, body: chunks.join('') }) };
    await using running = await runServer({ metrics });
    const { body, headers } = await ask(running.port, 'GET', '/metrics');
    expect(body).toBe(chunks.join(''));
    expect(headers['transfer-encoding']).toBe('chunked');
  });

  it('a reader that goes away in the middle of a large page leaves nothing behind', async () => {
    const chunks = Array.from({ length: 3000 }, () => 'z'.repeat(10_000));
    const metrics = { render: async () => ({ contentType: 'text/plain', chunks, body: '' }) };
    await using running = await runServer({ metrics });
    const { socket } = await rawConnection(running.port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    expect((await ask(running.port, 'GET', '/-/healthy')).status).toBe(200);
  });

  it('a hundred scrapes at once are all answered', async () => {
    await using running = await runServer();
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(running.port, 'GET', '/metrics')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});

describe('starting and stopping', () => {
  it('a port that is taken is an error that says so', async () => {
    await using running = await runServer();
    const web = { ...sampleConfig().web, listenAddress: `127.0.0.1:${running.port}` };
    const second = createHttpServer({ web, version: '1' }, httpDependencies());
    await expect(second.start()).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      message: expect.stringContaining('EADDRINUSE'),
    });
    expect(second.address()).toBeNull();
    await second.close();
  });

  it('an address that is none is a configuration error', async () => {
    const web = { ...sampleConfig().web, listenAddress: 'everywhere' };
    await expect(createHttpServer({ web, version: '1' }, httpDependencies()).start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('closing waits for a running request and drops idle connections at once', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { asked, note } = anAsking();
    const metrics = {
      render: () => {
        note();
        return held.then(() => ({ contentType: 'text/plain', body: 'late\n' }));
      },
    };
    const running = await runServer({ metrics });
    const idle = await rawConnection(running.port, 'GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle.socket, 'data');
    const answer = ask(running.port, 'GET', '/metrics');
    const started = await rawConnection(running.port, '');
    await asked;
    const closing = running.server.close(seconds(5));
    await idle.answer;
    setImmediate(release);
    expect((await answer).body).toBe('late\n');
    started.socket.destroy();
    await closing;
    expect(running.server.address()).toBeNull();
    await expect(ask(running.port, 'GET', '/-/healthy')).rejects.toThrow('ECONNREFUSED');
  });

  it('closing does not wait longer than its grace for a request that never ends', async () => {
    const { asked, note } = anAsking();
    const metrics = {
      render: () => {
        note();
        return new Promise<never>(() => {});
      },
    };
    const running = await runServer({ metrics });
    const answer = ask(running.port, 'GET', '/metrics').catch((error: NodeJS.ErrnoException) => error.code);
    await asked;
    await running.server.close(seconds(0.05));
    expect(await answer).toBe('ECONNRESET');
  });

  it('closing twice, or before the start, is harmless', async () => {
    const server = createHttpServer({ web: sampleConfig().web, version: '1' }, httpDependencies());
    await server.close();
    await server.start();
    await server.close();
    await server.close();
    expect(server.address()).toBeNull();
  });
});
