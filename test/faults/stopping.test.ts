import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Exporter, type SimulatedEngine, startEngine, startExporter, until } from './support/processes.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const config = (url: string): string => `
web: {listen_address: "127.0.0.1:0"}
metrics: {enabled: false}
profiles:
  - {name: cold, every: 1s, allow_overlap: true, connection: fresh, prompt_tokens: 32, max_tokens: 64, deadlines: {total: 50s}}
targets:
  - {name: t, url: "${url}", model: sim, api: completions, engine: vllm, vantage: cluster, warmup_probes: 0}
`;

async function exporterFor(url: string): Promise<Exporter> {
  const exporter = await startExporter(() => config(url));
  open.push(() => exporter.process.dispose());
  return exporter;
}

/** A server that takes connections and says nothing. */
async function mute(): Promise<{ readonly port: number; readonly sockets: readonly Socket[] }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, sockets };
}

async function engineWith(fault: object | null): Promise<SimulatedEngine> {
  const engine = await startEngine(fault === null ? [] : ['--step-seconds', '0.1']);
  open.push(() => engine.process.dispose());
  if (fault !== null) await engine.fault(fault);
  return engine;
}

/** Requests that the simulator has in hand. */
const inHand = async (port: number): Promise<number> => {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text();
  const line = page.split('\n').find((text) => text.startsWith('vllm:num_requests_running'));
  return Number(line?.split(' ').at(-1) ?? 0);
};

/** Asks it to stop and checks that it does so as it should. */
async function stops(exporter: Exporter): Promise<void> {
  const attempts = [...(await exporter.page())].find(([series]) => series.startsWith('inference_probe_attempts_total'));
  const asked = performance.now();
  expect(await exporter.stop()).toBe(0);
  // Two seconds is what it takes at most on a machine of its own, and five were seen on one that was six times overbooked.
  // Waiting for the probe would take its deadline of 50 seconds.
  expect(performance.now() - asked).toBeLessThan(12_000);
  const said = exporter.process.said();
  expect(said).toContain('"stopping"');
  // The probe that was given up is nobody's failure.
  expect(said.slice(said.indexOf('"stopping"'))).not.toMatch(/fail|error|"reason"/);
  expect(attempts).toBeDefined();
}

describe('SIGTERM', () => {
  it('before anything was asked', async () => {
    await stops(await exporterFor('http://127.0.0.1:1'));
  });

  it('while a probe is in the TLS handshake', async () => {
    const { port, sockets } = await mute();
    const exporter = await exporterFor(`https://127.0.0.1:${port}`);
    await until(
      'a handshake',
      () => sockets.filter((socket) => socket.bytesRead > 0).length,
      (now) => now > 0,
    );
    await stops(exporter);
  });

  it('while a probe waits for response headers', async () => {
    const { port, sockets } = await mute();
    const exporter = await exporterFor(`http://127.0.0.1:${port}`);
    await until(
      'a request',
      () => sockets.filter((socket) => socket.bytesRead > 0).length,
      (now) => now > 0,
    );
    await stops(exporter);
  });

  it('while a probe waits for its first token', async () => {
    const engine = await engineWith({ kind: 'stall', after_tokens: 0 });
    const exporter = await exporterFor(`http://127.0.0.1:${engine.port}`);
    await until(
      'a request in hand',
      () => inHand(engine.port),
      (now) => now > 0,
    );
    await stops(exporter);
  });

  it('while tokens arrive', async () => {
    const engine = await engineWith({ kind: 'slow', factor: 4 });
    const exporter = await exporterFor(`http://127.0.0.1:${engine.port}`);
    await until(
      'a request in hand',
      () => inHand(engine.port),
      (now) => now > 0,
    );
    await stops(exporter);
  });

  it('between two probes, asked twice: the second one does not wait', async () => {
    const engine = await engineWith(null);
    const exporter = await exporterFor(`http://127.0.0.1:${engine.port}`);
    await exporter.process.saying(/first probe is good/);
    exporter.process.signal('SIGTERM');
    exporter.process.signal('SIGTERM');
    expect([0, 1]).toContain((await exporter.process.finished()).code);
  });
});
