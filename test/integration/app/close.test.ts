import { describe, expect, it } from 'vitest';
import { exporter, quickConfig, quickProfile, quickTarget, simulator, until } from './harness.ts';

const LABELS = 'target="engine",model="sim",profile="cold"';

/** A grace of 1.5 s, and a busy machine; what is not given up ends by its own deadlines, which are 8 s and more. */
const FAST_MS = 4000;

/** What keeps a process alive, by kind; the test runner's own pipes and this suite's simulators are there before. */
const resources = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

describe('stopping', () => {
  it('G-163: is fast, counts no failure for the probe in flight, and leaves no handle', async () => {
    const engine = await simulator();
    // A request that waits for its first token for as long as one likes.
    engine.fault({ kind: 'stall', afterTokens: 0, stallSeconds: null, requests: null, forSeconds: null });
    const patient = quickProfile('cold', 0.2, 60);
    const before = resources();
    const running = await exporter(quickConfig(quickTarget(engine.url, { profiles: [patient] })));
    await until(
      () => running.metric(`inference_probe_skipped_total{${LABELS},reason="overlap"}`),
      (count) => (count ?? 0) >= 1,
    );
    const failed = await running.metric(`inference_probe_failures_total{${LABELS},reason="connection_lost"}`);
    const began = performance.now();
    await running.app.close();
    expect(performance.now() - began).toBeLessThan(FAST_MS);
    expect(failed).toBe(0);
    expect(running.app.address()).toBeNull();
    expect(running.lines.filter(({ message }) => message.includes('fail'))).toEqual([]);
    const left = await until(
      async () => resources(),
      (now) =>
        (now.Timeout ?? 0) <= (before.Timeout ?? 0) + 1 && (now.TCPSocketWrap ?? 0) <= (before.TCPSocketWrap ?? 0),
      4,
    );
    expect(left.TCPServerWrap ?? 0).toBe(before.TCPServerWrap ?? 0);
  });

  it('can be asked for twice, and before anything was asked or answered', async () => {
    const { url } = await simulator();
    const running = await exporter(quickConfig(quickTarget(url)));
    await Promise.all([running.app.close(), running.app.close()]);
    expect(running.app.address()).toBeNull();
  });

  it('is not held up by an endpoint that accepts connections and says nothing', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const running = await exporter(quickConfig(quickTarget(new URL(`http://127.0.0.1:${port}`))));
    const began = performance.now();
    await running.app.close();
    expect(performance.now() - began).toBeLessThan(FAST_MS);
    await new Promise<void>((resolve) => silent.close(() => resolve()));
  });

  it('a port that is taken is a clear error, and nothing has begun', async () => {
    const { url } = await simulator();
    const first = await exporter(quickConfig(quickTarget(url)));
    const config = quickConfig(quickTarget(url));
    const taken = `127.0.0.1:${first.app.address()?.port}`;
    await expect(exporter({ ...config, web: { ...config.web, listenAddress: taken } })).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
    });
  });
});
