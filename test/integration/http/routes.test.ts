import { describe, expect, it, vi } from 'vitest';
import { createRecentProbes } from '../../../src/http/recent.ts';
import type { Logger } from '../../../src/log.ts';
import { silentLogger } from '../../../src/log.ts';
import { ask, runServer } from '../../support/http-under-test.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from '../../support/sample-probe.ts';

const ON = { enablePause: true, enableReload: true };

describe('what the server answers', () => {
  it.each([
    { method: 'GET', path: '/metrics', status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' },
    { method: 'GET', path: '/', status: 200, type: 'text/html; charset=utf-8' },
    { method: 'GET', path: '/assets/main.js', status: 200, type: 'text/javascript; charset=utf-8' },
    { method: 'GET', path: '/assets/theme.css', status: 200, type: 'text/css; charset=utf-8' },
    { method: 'GET', path: '/assets/icon.svg', status: 200, type: 'image/svg+xml' },
    { method: 'GET', path: '/config', status: 200, type: 'text/yaml; charset=utf-8' },
    { method: 'GET', path: '/probes', status: 200, type: 'application/json; charset=utf-8' },
    { method: 'GET', path: '/api/live', status: 200, type: 'application/json; charset=utf-8' },
    { method: 'GET', path: '/-/healthy', status: 200, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/-/ready', status: 200, type: 'text/plain; charset=utf-8' },
    { method: 'HEAD', path: '/metrics', status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' },
    { method: 'GET', path: '/probes/none', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/probes?outcome=odd', status: 400, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/nothing', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/Metrics', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/metrics/', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'POST', path: '/metrics', status: 405, type: 'text/plain; charset=utf-8' },
    { method: 'DELETE', path: '/probes/x', status: 405, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/-/reload', status: 405, type: 'text/plain; charset=utf-8' },
    { method: 'POST', path: '/probe?target=http://169.254.169.254/', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/assets/../../../package.json', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/assets/%2e%2e/assets.ts', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/assets/assets.ts', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '//metrics', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/probes/%E0%A4%A', status: 400, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: '/probes/__proto__', status: 404, type: 'text/plain; charset=utf-8' },
    { method: 'GET', path: 'http://169.254.169.254/latest', status: 404, type: 'text/plain; charset=utf-8' },
  ])('$method $path: $status', async ({ method, path, status, type }) => {
    await using running = await runServer();
    const answer = await ask(running.port, method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe(type);
    if (type.startsWith('text/plain; charset')) expect(answer.body.length).toBeLessThan(80);
  });

  it('every answer carries the security headers, and none says what made it', async () => {
    await using running = await runServer();
    for (const path of ['/', '/metrics', '/nothing', '/probes', '/assets/main.js']) {
      const { headers } = await ask(running.port, 'GET', path);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers.etag).toBeUndefined();
    }
  });

  it('the metrics are rendered in the format that was asked for', async () => {
    await using running = await runServer();
    const { body } = await ask(running.port, 'GET', '/metrics', { accept: 'application/openmetrics-text' });
    expect(body).toBe('accept application/openmetrics-text\n');
  });

  it('the metrics stand where the configuration says, whatever characters that path has', async () => {
    await using running = await runServer({}, { telemetryPath: '/m.*(x)/:id' });
    expect((await ask(running.port, 'GET', '/m.*(x)/:id')).status).toBe(200);
    expect((await ask(running.port, 'GET', '/mab(x)/:id')).status).toBe(404);
    expect((await ask(running.port, 'GET', '/metrics')).status).toBe(404);
  });

  it('a page that cannot be rendered is a 500 of two words, and its reason is in the log', async () => {
    const error = vi.fn();
    const log: Logger = { ...silentLogger(), error };
    const metrics = {
      render: async () => {
        throw new Error('secret detail');
      },
    };
    await using running = await runServer({ metrics, log });
    const answer = await ask(running.port, 'GET', '/metrics');
    expect(answer).toMatchObject({ status: 500, body: 'internal error\n' });
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ path: '/metrics', error: 'Error' }),
      expect.any(String),
    );
  });

  it('readiness says why not', async () => {
    await using running = await runServer({ ready: () => ({ ready: false, reason: 'waiting for the first poll' }) });
    expect(await ask(running.port, 'GET', '/-/ready')).toMatchObject({
      status: 503,
      body: 'waiting for the first poll\n',
    });
    expect((await ask(running.port, 'GET', '/-/healthy')).status).toBe(200);
  });
});

describe('recent probes', () => {
  const recent = createRecentProbes({ successes: 5, failures: 5 });
  recent.add(finished(goodProbe({ id: 'a1' })));
  recent.add(
    finished(failedProbe('stalled', { id: 'b2', profile: 'warm', beganAt: 200 as never }), {
      diagnosis: sampleDiagnosis('preemption'),
    }),
  );

  it('are a list, newest first, that can be narrowed down', async () => {
    await using running = await runServer({ recent });
    const ids = async (query: string) =>
      (JSON.parse((await ask(running.port, 'GET', `/probes${query}`)).body) as { id: string }[]).map(({ id }) => id);
    expect(await ids('')).toEqual(['b2', 'a1']);
    expect(await ids('?outcome=failed')).toEqual(['b2']);
    expect(await ids('?profile=cold&target=engine')).toEqual(['a1']);
    expect(await ids('?target=other')).toEqual([]);
  });

  it('have their whole record with timeline, cause and evidence under their id', async () => {
    await using running = await runServer({ recent });
    const list = JSON.parse((await ask(running.port, 'GET', '/probes')).body) as Record<string, unknown>[];
    expect(list[0]).not.toHaveProperty('timeline');
    const record = JSON.parse((await ask(running.port, 'GET', '/probes/a1')).body) as Record<string, unknown>;
    expect(record).toMatchObject({ id: 'a1', outcome: 'good', reason: null, ttft_seconds: 0.25 });
    expect(record.timeline).toHaveLength(2);
    const failed = JSON.parse((await ask(running.port, 'GET', '/probes/b2')).body) as Record<string, unknown>;
    expect(failed).toMatchObject({ cause: 'preemption', reason: 'stalled', evidence: { preemptions_increase: 3 } });
  });
});

describe('actions', () => {
  it('reload answers with what came of it', async () => {
    await using good = await runServer({ actions: { reload: async () => ({ ok: true }) } }, ON);
    expect(await ask(good.port, 'POST', '/-/reload')).toMatchObject({ status: 200, body: 'configuration reloaded\n' });
    await using bad = await runServer(
      { actions: { reload: async () => ({ ok: false, message: 'probe.yml:3: wrong' }) } },
      ON,
    );
    expect(await ask(bad.port, 'POST', '/-/reload')).toMatchObject({ status: 500, body: 'probe.yml:3: wrong\n' });
  });

  it('pause and resume act on one target or on all', async () => {
    const pause = vi.fn((target: string | null) => target !== 'gone');
    const resume = vi.fn(() => true);
    await using running = await runServer({ actions: { pause, resume } }, ON);
    expect((await ask(running.port, 'POST', '/-/pause')).body).toBe('paused all targets\n');
    expect((await ask(running.port, 'POST', '/-/pause?target=engine')).body).toBe('paused engine\n');
    expect((await ask(running.port, 'POST', '/-/pause?target=gone')).status).toBe(404);
    expect((await ask(running.port, 'POST', '/-/resume')).status).toBe(200);
    expect(pause.mock.calls).toEqual([[null], ['engine'], ['gone']]);
  });

  it.each(['/-/reload', '/-/pause', '/-/resume'])('POST %s is refused when it is not enabled', async (path) => {
    const act = vi.fn(() => true);
    const reload = vi.fn(async () => ({ ok: true }) as const);
    await using running = await runServer(
      { actions: { reload, pause: act, resume: act } },
      { enablePause: false, enableReload: false },
    );
    expect((await ask(running.port, 'POST', path)).status).toBe(403);
    expect(act).not.toHaveBeenCalled();
    expect(reload).not.toHaveBeenCalled();
  });

  it.each([
    { id: 'another origin', headers: { origin: 'https://evil.example' } },
    { id: 'another site', headers: { 'sec-fetch-site': 'cross-site' } },
  ])('a browser on $id cannot act', async ({ headers }) => {
    const reload = vi.fn(async () => ({ ok: true }) as const);
    await using running = await runServer({ actions: { reload } }, ON);
    expect((await ask(running.port, 'POST', '/-/reload', headers)).status).toBe(403);
    expect(reload).not.toHaveBeenCalled();
  });

  it('the page itself may act', async () => {
    await using running = await runServer({ actions: { reload: async () => ({ ok: true }) } }, ON);
    const headers = { origin: running.url, host: `127.0.0.1:${running.port}`, 'sec-fetch-site': 'same-origin' };
    expect((await ask(running.port, 'POST', '/-/reload', headers)).status).toBe(200);
  });
});
