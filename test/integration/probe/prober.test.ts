import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { ProbeExporterError } from '../../../src/errors.ts';
import { seconds, type UnixTime, unixTime } from '../../../src/units.ts';
import { recordingLogger, startRig, withRig } from '../../support/probe-rig.ts';
import { GOOD_STREAM, openStream, respond, respondJson, stream, token } from '../../support/stream-text.ts';
import { startWorkerServer } from '../../support/worker-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function blockLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('a probe that is aborted', () => {
  test.each([
    ['before its request is answered', []],
    ['in the middle of its stream', openStream([[0, token('A')]])],
  ])('%s leaves no outcome, no listener, no timer and no socket', async (_, steps) => {
    await withRig({ script: () => steps }, async ({ prober, server, clock }) => {
      const controller = new AbortController();
      const running = prober.probe({ traceparent: false, signal: controller.signal });
      await server.received(1);
      await pause(20);
      controller.abort();
      expect(await running).toBeNull();
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      expect(clock.armed()).toBe(0);
      await server.quiet();
    });
  });

  test('while its host name is being resolved is over at once', async () => {
    const options = {
      target: { url: 'http://engine.test' },
      dependencies: { resolve: () => new Promise<never>(() => {}) },
    };
    await withRig(options, async ({ prober, clock }) => {
      const controller = new AbortController();
      const running = prober.probe({ traceparent: false, signal: controller.signal });
      controller.abort();
      expect(await running).toBeNull();
      expect(clock.armed()).toBe(0);
    });
  });

  test('before it starts sends nothing', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ prober, server }) => {
      expect(await prober.probe({ traceparent: false, signal: AbortSignal.abort() })).toBeNull();
      expect(server.connections()).toBe(0);
    });
  });

  test('by closing the prober leaves nothing either, and later probes send nothing', async () => {
    await withRig({ script: () => [] }, async ({ prober, server }) => {
      const running = prober.probe({ traceparent: false });
      await server.received(1);
      await prober.close();
      expect(await running).toBeNull();
      expect(await prober.probe({ traceparent: false })).toBeNull();
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe('a prober that gives figures only', () => {
  test('leaves out the timeline and the hash, and measures the same', async () => {
    const script = (): typeof GOOD_STREAM => GOOD_STREAM;
    const whole = await withRig({ script }, ({ good }) => good());
    const figures = await withRig({ script, figuresOnly: true }, ({ good }) => good());
    expect(whole.timeline).not.toEqual([]);
    expect(whole.outputHash).toMatch(/^[0-9a-f]{16}$/);
    expect(figures.timeline).toEqual([]);
    expect(figures.outputHash).toBeNull();
    expect(Object.keys(figures)).toEqual(Object.keys(whole));
    for (const name of ['outputTokens', 'tokenChunks', 'events', 'finishReason', 'terminal', 'tokenSource'] as const) {
      expect(figures[name]).toEqual(whole[name]);
    }
    expect(figures.gapsSeconds).toHaveLength(whole.gapsSeconds.length);
    expect(figures.ttftSeconds).not.toBeNull();
  });

  test('still tells an answer that was not expected by its hash', async () => {
    const profile = { expect: { minTokens: null, pattern: null, answer: 'something else', detectDegenerate: false } };
    await withRig({ script: () => GOOD_STREAM, figuresOnly: true, profile }, async ({ failed }) => {
      const { failure } = await failed();
      expect(failure.detail.answer_hash).toMatch(/^[0-9a-f]{16}$/);
    });
  });
});

describe('many probes', () => {
  test('G-161: under one long-lived signal leave no listener behind', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ probe }) => {
      const { signal } = new AbortController();
      for (let count = 0; count < 20; count += 1) await probe({ signal });
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    });
  });

  test('leave no socket and no listener behind, good or failed, fresh or reused', async () => {
    const scripts = [
      GOOD_STREAM,
      openStream([[0, token('A')]]),
      respond(500, {}, 'x'),
      [{ atMs: 0, act: 'RST' as const }],
    ];
    const script = (_: unknown, index: number) => scripts[index % scripts.length] ?? [];
    const profile = { deadlines: { betweenTokensSeconds: seconds(0.02) } };
    for (const connection of ['fresh', 'reuse'] as const) {
      const rig = await startRig({ script, profile: { ...profile, connection } });
      for (let count = 0; count < 24; count += 1) await rig.probe();
      expect(rig.clock.armed()).toBe(0);
      await rig.close();
      expect(rig.server.openSockets()).toBe(0);
    }
  });

  test('G-167: with other errors, models and headers each time keep their reasons in the closed set', async () => {
    const script = (_: unknown, index: number) =>
      respondJson(
        500,
        { error: { type: `t${index}`, code: `c${index}`, message: `m${index}` } },
        { 'x-random': `r${index}` },
      );
    await withRig({ script }, async ({ failed }) => {
      const seen = new Set<string>();
      for (let count = 0; count < 10; count += 1) seen.add(JSON.stringify((await failed()).failure));
      expect(seen.size).toBe(1);
    });
  });
});

describe('the request', () => {
  test('carries a traceparent with the id of the probe when asked to, and none otherwise', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ probe, server }) => {
      const { id } = await probe({ traceparent: true });
      await probe();
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(server.requests[0]?.headers.traceparent).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
      expect(server.requests[1]?.headers.traceparent).toBeUndefined();
    });
  });

  test('reads the key each time, so that a rotated one is used from the next probe on', async () => {
    const keys = ['sk-1', 'sk-2'];
    const target = { apiKey: () => keys.shift() ?? null };
    await withRig({ script: () => GOOD_STREAM, target }, async ({ good, server }) => {
      await good();
      await good();
      await good();
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer sk-1',
        'Bearer sk-2',
        undefined,
      ]);
    });
  });

  test('has the headers of the target in place of its own, but never without the marker', async () => {
    const headers = { 'User-Agent': 'mine', 'X-Route': 'canary', 'X-Inference-Probe': '0' };
    await withRig({ script: () => GOOD_STREAM, target: { headers } }, async ({ good, server }) => {
      await good();
      expect(server.requests[0]?.headers).toMatchObject({
        'user-agent': 'mine',
        'x-route': 'canary',
        'x-inference-probe': '1',
      });
    });
  });

  test('keeps the path and the query of the url, and takes user info out of it', async () => {
    const server = await startRig({ script: () => GOOD_STREAM });
    const url = `${server.server.url.replace('//', '//user:pw-9@')}/openai/v1?api-key=qk-7`;
    await withRig({ target: { url } }, async ({ good }) => {
      await good();
      expect(server.server.requests[0]?.line).toBe('POST /openai/v1/chat/completions?api-key=qk-7 HTTP/1.1');
      expect(server.server.requests[0]?.headers.authorization).toBe(`Basic ${btoa('user:pw-9')}`);
    });
    await server.close();
  });
});

describe('what a probe says of a failure', () => {
  const SECRETS = ['pw-9', 'qk-7', 'sk-canary', 'server-text'];
  const url = 'http://user:pw-9@127.0.0.1:1/v1?api-key=qk-7';
  const echo = JSON.stringify({
    error: { message: 'bad key sk-canary server-text', type: 'server-text', code: 'sk-canary' },
  });

  test.each([
    ['a refused connection', { url }, []],
    [
      'an HTTP error',
      {},
      respond(500, { 'Content-Type': 'application/json', Location: 'http://x/?k=sk-canary' }, echo),
    ],
    ['a redirect', {}, respond(302, { Location: 'http://user:pw-9@x.test/sk-canary?api-key=qk-7' }, echo)],
    ['an error in the stream', {}, stream([[0, `data: ${echo}\n\n`]])],
    ['a page', {}, respond(200, { 'Content-Type': 'text/html' }, '<p>sk-canary server-text')],
    ['garbage', {}, [{ atMs: 0, act: 'sk-canary server-text\r\n' }]],
    [
      'a refused parameter',
      {},
      respond(400, {}, JSON.stringify({ error: { message: 'unknown field sk-canary temperature server-text' } })),
    ],
  ])('of %s holds neither a secret nor text of the server, and is one line', async (_, target, steps) => {
    const log = recordingLogger();
    const options = { script: () => steps, target: { apiKey: () => 'sk-canary', ...target }, dependencies: { log } };
    await withRig(options, async ({ failed }) => {
      const outcome = await failed();
      const said = JSON.stringify(outcome) + log.lines.join();
      for (const secret of SECRETS) expect(said).not.toContain(secret);
      expect(outcome.failure.message).toMatch(/^http:\/\/[^\n]+: [^\n]+; [^\n]+$/);
    });
  });

  test('of a key that cannot be read is a fault of ours, with its code', async () => {
    const apiKey = () => {
      throw new ProbeExporterError('SECRET_UNREADABLE', '/run/secrets/key sk-canary');
    };
    await withRig({ target: { apiKey } }, async ({ failed, server }) => {
      const { failure, requestAt } = await failed();
      expect(failure).toMatchObject({ reason: 'internal', side: 'probe', detail: { code: 'SECRET_UNREADABLE' } });
      expect(failure.message).not.toContain('sk-canary');
      expect(requestAt).toBeNull();
      expect(server.connections()).toBe(0);
    });
  });

  test('of a key that no header can hold is a fault of ours, without the key', async () => {
    await withRig({ target: { apiKey: () => 'sk-canary\r\nx: y' } }, async ({ failed }) => {
      const { failure } = await failed();
      expect(failure).toMatchObject({ reason: 'internal', detail: { code: 'UND_ERR_INVALID_ARG' } });
      expect(JSON.stringify(failure)).not.toContain('canary');
    });
  });

  test('of a bug is a fault of ours, and logged with its place', async () => {
    const log = recordingLogger();
    const apiKey = () => {
      throw new TypeError('sk-canary');
    };
    await withRig({ target: { apiKey }, dependencies: { log } }, async ({ failed }) => {
      expect((await failed()).failure.reason).toBe('internal');
      expect(log.lines.join()).toContain('TypeError');
      expect(log.lines.join()).not.toContain('sk-canary');
    });
  });
});

describe('time', () => {
  test('G-169: a sample that our own blocked loop spoiled is marked', async () => {
    const steps = stream([
      [60, token('A')],
      [80, 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'],
    ]);
    await withRig({ script: () => steps, disturbedAfterSeconds: 0.1 }, async ({ probe, good }) => {
      const running = probe();
      await pause(20);
      blockLoop(300);
      const outcome = await running;
      expect(outcome.disturbed).toBe(true);
      expect(outcome.eventLoopDelaySeconds).toBeGreaterThan(0.28);
      const calm = await good();
      expect(calm.eventLoopDelaySeconds).toBeLessThan(0.28);
    });
  });

  test('a deadline that passed while our own loop stood still is not held against bytes that were there', async () => {
    const steps = stream([
      [40, token('A')],
      [45, 'data: [DONE]\n\n'],
    ]);
    const deadlines = { firstTokenSeconds: seconds(0.2), headersSeconds: seconds(0.2) };
    const server = await startWorkerServer(steps);
    await withRig({ target: { url: server.url }, profile: { deadlines } }, async ({ probe }) => {
      const running = probe();
      await pause(20);
      blockLoop(500);
      expect(await running).toMatchObject({ outcome: 'good', disturbed: true });
    });
    await server.close();
  });

  test('G-077: steps of the wall clock change no duration', async () => {
    const machine = systemClock();
    const steps = [0, -60, 3600, -3600];
    let read = 0;
    const unix = (): UnixTime => unixTime(machine.unix() + (steps[read++ % steps.length] ?? 0));
    await withRig({ script: () => GOOD_STREAM, dependencies: { clock: { ...machine, unix } } }, async ({ good }) => {
      const { ttftSeconds, durationSeconds } = await good();
      expect(ttftSeconds).toBeGreaterThanOrEqual(0);
      expect(durationSeconds).toBeLessThan(5);
    });
  });

  test('the set-up of the connection is no part of the TTFT', async () => {
    const slow = () => pause(200).then(() => ['127.0.0.1']);
    const rig = await startRig({ script: () => GOOD_STREAM });
    const target = { url: `http://engine.test:${rig.server.port}` };
    await withRig({ target, dependencies: { resolve: slow } }, async ({ good }) => {
      const { ttftSeconds, phases, beganAt, requestAt, eventLoopDelaySeconds } = await good();
      expect(phases.dns).toBeGreaterThan(0.19);
      expect((requestAt ?? 0) - beganAt).toBeGreaterThan(0.19);
      // What a busy machine adds is told; the name that is waited for holds nothing up.
      expect(ttftSeconds).toBeLessThan(0.15 + 2.5 * (eventLoopDelaySeconds ?? 0));
    });
    await rig.close();
  });
});
