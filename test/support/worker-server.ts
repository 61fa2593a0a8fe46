import { Worker } from 'node:worker_threads';
import type { Step } from './scripted-server.ts';

// Plain JavaScript, because a worker has no loader for TypeScript on Node 20. Runs the steps once for each connection.
const SOURCE = `
const { createServer } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const perform = (socket, act) => (act === 'FIN' ? socket.end() : act === 'RST' ? socket.resetAndDestroy() : socket.write(act));
createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    for (const { atMs, act } of workerData) setTimeout(() => perform(socket, act), atMs);
  });
}).listen(0, '127.0.0.1', function () {
  parentPort.postMessage(this.address().port);
});`;

/** A server with an event loop of its own: it goes on while that of the test stands still. */
export async function startWorkerServer(steps: readonly Step[]): Promise<{ url: string; close(): Promise<unknown> }> {
  const worker = new Worker(SOURCE, { eval: true, workerData: steps });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { url: `http://127.0.0.1:${port}`, close: () => worker.terminate() };
}
