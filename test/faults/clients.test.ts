import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Exporter, pause, startExporter, until } from './support/processes.ts';

let exporter: Exporter;
beforeAll(async () => {
  exporter = await startExporter(
    () =>
      'web: {listen_address: "127.0.0.1:0"}\ntargets: [{name: t, url: "http://127.0.0.1:1", model: m, api: chat}]\n',
  );
});
afterAll(() => exporter?.process.dispose());

const dial = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(exporter.base).port), '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });

it('a client that trickles its headers is hung up on, and others do not notice', async () => {
  const socket = await dial();
  socket.on('error', () => {});
  let over = false;
  socket.on('close', () => {
    over = true;
  });
  socket.resume();
  socket.write('GET /metrics HTTP/1.1\r\n');
  const began = performance.now();
  while (!over && performance.now() - began < 40_000) {
    socket.write('X-A: b\r\n');
    expect((await exporter.get('/-/healthy')).status).toBe(200);
    await pause(0.5);
  }
  expect(over).toBe(true);
  expect(performance.now() - began).toBeLessThan(25_000);
});

it('more connections than are allowed are dropped, and the exporter serves again when they go', async () => {
  const before = exporter.descriptors();
  const sockets: Socket[] = [];
  let dropped = 0;
  for (let count = 0; count < 600; count += 1) {
    const socket = await dial();
    socket.on('error', () => {});
    socket.on('close', () => {
      dropped += 1;
    });
    socket.resume();
    sockets.push(socket);
  }
  await until(
    'dropped connections',
    () => dropped,
    (count) => count >= 80,
  );
  for (const socket of sockets) socket.destroy();
  await until(
    'descriptors',
    () => exporter.descriptors(),
    (now) => now <= before + 1,
  );
  expect((await exporter.get('/metrics')).status).toBe(200);
});
