import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { type DiscoverOptions, discover } from '../../../src/engine/detect.ts';
import type { Discovery } from '../../../src/engine/types.ts';
import { silentLogger } from '../../../src/log.ts';
import { API_NAMES } from '../../../src/probe/outcome.ts';
import { seconds } from '../../../src/units.ts';
import { type Document, type DocumentServer, documentServer } from '../../support/document-server.ts';
import { pageText } from '../../support/pages.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const json = (value: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Document => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

const models = (owner: string, more: object = {}): Document =>
  json({ object: 'list', data: [{ id: 'tiny', object: 'model', created: 1, owned_by: owner, ...more }] });

interface Found extends Discovery {
  readonly server: DocumentServer;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
}

async function find(
  documents: Readonly<Record<string, Document>>,
  options: Partial<DiscoverOptions> = {},
  path = '/',
): Promise<Found> {
  const server = await documentServer(documents);
  cleanups.push(() => server.close());
  const discovery = await discover(
    {
      url: new URL(path, server.url),
      apiKey: () => null,
      headers: {},
      engine: 'auto',
      metricsUrl: null,
      timeoutSeconds: seconds(5),
      ...options,
    },
    { clock: systemClock(), log: silentLogger() },
  );
  for (const request of server.requests) expect(request).toMatch(/^GET /);
  return { ...discovery, server, asked: server.requests.map((request) => request.slice('GET '.length)) };
}

const metricsPath = (found: Found): string | null => found.metricsUrl?.pathname ?? null;

// What must never be asked for: it generates, wakes, loads or empties something.
const EFFECTS = ['/health', '/health_generate', '/slots', '/perf_metrics', '/api/generate', '/load_model'];
const withoutEffects = (found: Found): void => {
  expect(found.asked.filter((path) => EFFECTS.includes(path))).toEqual([]);
};

const VLLM = {
  '/metrics': {
    headers: { 'content-type': 'text/plain; version=1.0.0' },
    body: pageText('vllm-0.32.0-plain/metrics-idle'),
  },
  '/v1/models': models('vllm', { max_model_len: 2048 }),
  '/version': json({ version: '0.32.0' }),
};

describe('discovery', () => {
  it.each([{ path: '/' }, { path: '/v1' }, { path: '/v1/' }])(
    'finds vLLM from $path with everything a probe needs',
    async ({ path }) => {
      const found = await find(VLLM, {}, path);
      expect(found).toMatchObject({
        engine: 'vllm',
        version: '0.32.0',
        models: ['tiny'],
        apis: ['completions', 'chat'],
        maxModelLength: 2048,
        chatTemplate: null,
      });
      expect(found.metricsUrl?.href).toBe(new URL('/metrics', found.server.url).href);
      withoutEffects(found);
    },
  );

  it('finds vLLM behind a path', async () => {
    const prefixed = Object.fromEntries(Object.entries(VLLM).map(([path, document]) => [`/llm${path}`, document]));
    const found = await find(prefixed, {}, '/llm/v1');
    expect([found.engine, metricsPath(found), found.models]).toEqual(['vllm', '/llm/metrics', ['tiny']]);
  });

  it('finds the metrics at the root of an API that is below a path', async () => {
    const found = await find(
      {
        '/openai/v1/models': models(''),
        '/metrics': pageText('kserve-handwritten/metrics'),
        '/v2': json({ name: 'x' }),
      },
      {},
      '/openai/v1',
    );
    expect([found.engine, metricsPath(found)]).toEqual(['kserve', '/metrics']);
  });

  it('finds SGLang without a health check, which would generate', async () => {
    const found = await find({
      '/metrics': pageText('sglang-0.5.23/metrics-idle'),
      '/v1/models': models('sglang', { max_model_len: 4096 }),
      '/server_info': json({ model_path: '/m', version: '0.5.23' }),
      '/': json('SGLang is running'),
    });
    expect(found).toMatchObject({
      engine: 'sglang',
      version: '0.5.23',
      apis: ['completions', 'chat'],
      maxModelLength: 4096,
    });
    withoutEffects(found);
  });

  it('finds an old SGLang that has no metrics and calls itself Ollama at its root', async () => {
    const found = await find({
      '/v1/models': models('sglang'),
      '/get_server_info': json({ version: '0.5.4' }),
      '/': 'Ollama is running',
    });
    expect(found).toMatchObject({ engine: 'sglang', version: '0.5.4', metricsUrl: null });
  });

  it('G-116: finds TensorRT-LLM and never reads the page that each reader empties', async () => {
    const found = await find({
      '/metrics': json([{ iter: 1 }]),
      '/prometheus/metrics': pageText('tensorrt-llm-1.3-handwritten/metrics'),
      '/v1/models': models('tensorrt_llm'),
      '/version': json({ version: '1.3.0' }),
    });
    expect([found.engine, found.version, metricsPath(found)]).toEqual(['tensorrt-llm', '1.3.0', '/prometheus/metrics']);
    expect(found.asked).not.toContain('/metrics');
    withoutEffects(found);
  });

  it('G-116: does so even when the model list cannot be read, or nothing else is there', async () => {
    const hidden = await find({
      '/metrics': json([]),
      '/prometheus/metrics': pageText('tensorrt-llm-1.3-handwritten/metrics'),
      '/v1/models': json({ detail: 'no' }, {}, 401),
    });
    expect([hidden.engine, hidden.asked.includes('/metrics')]).toEqual(['tensorrt-llm', false]);
    const off = await find({ '/metrics': json([]), '/v1/models': models('tensorrt_llm') });
    expect([off.engine, off.metricsUrl, off.asked.includes('/metrics')]).toEqual(['tensorrt-llm', null, false]);
  });

  const LLAMACPP = {
    '/v1/models': json(
      { object: 'list', data: [{ id: 'gemma', object: 'model', owned_by: 'llamacpp', meta: { n_ctx: 1024 } }] },
      { server: 'llama.cpp' },
    ),
    '/metrics': pageText('llamacpp-2026.10.11549/metrics-idle'),
  };

  it("finds llama.cpp's server", async () => {
    const props = json({ build_info: 'b6000-abc', chat_template: '{{ x }}', is_sleeping: false });
    const found = await find({ ...LLAMACPP, '/props': props });
    expect(found).toMatchObject({
      engine: 'llamacpp',
      version: 'b6000-abc',
      models: ['gemma'],
      apis: ['completions', 'chat'],
      maxModelLength: 1024,
      chatTemplate: true,
    });
    expect(metricsPath(found)).toBe('/metrics');
    withoutEffects(found);
  });

  it.each([
    { id: 'a router, which would load a model', props: { role: 'router', build_info: 'b1' }, says: 'router' },
    { id: 'a sleeping server, which would wake', props: { is_sleeping: true, build_info: 'b1' }, says: 'sleeps' },
  ])('leaves the metrics of llama.cpp alone when it is $id', async ({ props, says }) => {
    const found = await find({ ...LLAMACPP, '/props': json(props) });
    expect([found.engine, found.metricsUrl]).toEqual(['llamacpp', null]);
    expect(found.asked).not.toContain('/metrics');
    expect(found.findings.join('\n')).toContain(says);
  });

  it('reads them after all where it is told to', async () => {
    const server = await documentServer({ '/metrics?model=gemma': pageText('llamacpp-2026.10.11549/metrics-idle') });
    cleanups.push(() => server.close());
    const metricsUrl = new URL('/metrics?model=gemma', server.url);
    const found = await find({ ...LLAMACPP, '/props': json({ role: 'router' }) }, { metricsUrl });
    expect(found.metricsUrl?.href).toBe(metricsUrl.href);
    expect(server.requests).toEqual(['GET /metrics?model=gemma']);
  });

  it('knows llama.cpp by its header while it still loads, and expects its page', async () => {
    const loading = json({ error: { message: 'Loading model', code: 503 } }, { server: 'llama.cpp' }, 503);
    const found = await find({ '/v1/models': loading, '/props': loading, '/metrics': loading });
    expect([found.engine, metricsPath(found), found.models]).toEqual(['llamacpp', '/metrics', []]);
  });

  it('expects no page of an engine that says it has none', async () => {
    const off = json({ error: { code: 501, message: 'This server does not support metrics endpoint' } }, {}, 501);
    const found = await find({ ...LLAMACPP, '/metrics': off, '/props': json({}) });
    expect([found.engine, found.metricsUrl]).toEqual(['llamacpp', null]);
  });

  it('finds TGI', async () => {
    const found = await find({
      '/info': json({ model_id: 'm', version: '3.3.0', max_total_tokens: 4096 }),
      '/v1/models': models('meta/llama'),
      '/metrics': pageText('tgi-3.3-handwritten/metrics'),
    });
    expect(found).toMatchObject({ engine: 'tgi', version: '3.3.0', apis: ['chat', 'tgi'], maxModelLength: 4096 });
  });

  it('finds TGI by its own document before its metrics are born', async () => {
    const info = json({ model_id: 'm', version: '3.3.0' });
    const found = await find({ '/info': info, '/v1/models': models('m'), '/metrics': '' });
    expect([found.engine, metricsPath(found)]).toEqual(['tgi', '/metrics']);
    const off = await find({ '/info': info, '/v1/models': models('m') });
    expect([off.engine, off.metricsUrl]).toEqual(['tgi', null]);
  });

  it('finds LMDeploy', async () => {
    const found = await find({
      '/v1/models': models('lmdeploy'),
      '/metrics': pageText('lmdeploy-0.14-handwritten/metrics'),
    });
    expect([found.engine, metricsPath(found)]).toEqual(['lmdeploy', '/metrics']);
  });

  it('finds NIM 1.x and 2.x', async () => {
    const one = await find({
      '/v1/models': models('system'),
      '/v1/metrics': pageText('nim-1.8-handwritten/metrics'),
      '/v1/version': json({ release: '1.8.4', api: '1.0' }),
    });
    expect([one.engine, one.version, metricsPath(one)]).toEqual(['nim', '1.8.4', '/v1/metrics']);
    const two = await find({
      '/v1/models': models('system'),
      '/v1/metrics': pageText('vllm-0.32.0-plain/metrics-idle'),
      '/v1/version': json({ release: '2.0.1' }),
    });
    expect([two.engine, two.version, metricsPath(two)]).toEqual(['nim', '2.0.1', '/v1/metrics']);
  });

  it("finds Dynamo by its frontend's page, and its context window", async () => {
    const found = await find({
      '/v1/models': models('nvidia', { context_window: 512 }),
      '/metrics': pageText('dynamo-1.6.1-mocker/frontend-idle'),
    });
    expect(found).toMatchObject({ engine: 'dynamo', maxModelLength: 512, apis: ['completions', 'chat'] });
  });

  it("reads a worker's page where it is told to", async () => {
    const worker = await documentServer({ '/metrics': pageText('dynamo-1.6.1-mocker/worker-load-1') });
    cleanups.push(() => worker.close());
    const metricsUrl = new URL('/metrics', worker.url);
    const found = await find({ '/v1/models': models('nvidia') }, { metricsUrl });
    expect([found.engine, found.metricsUrl?.href]).toEqual(['dynamo', metricsUrl.href]);
  });

  it('finds Ollama, which has no metrics', async () => {
    const found = await find({
      '/': 'Ollama is running',
      '/api/version': json({ version: '0.15.0' }),
      '/v1/models': models('library'),
    });
    expect(found).toMatchObject({ engine: 'ollama', version: '0.15.0', metricsUrl: null, apis: ['ollama', 'chat'] });
    withoutEffects(found);
  });

  it('finds Triton by its own document', async () => {
    const found = await find({
      '/v2': json({ name: 'triton', version: '2.60.0' }),
      '/v1/models': models('Triton Inference Server'),
    });
    expect(found).toMatchObject({ engine: 'triton', version: '2.60.0' });
  });

  it('says unknown for an endpoint of no known engine, with APIs to try', async () => {
    const found = await find({ '/v1/models': models('acme'), '/metrics': 'acme_requests 1\n' });
    expect(found).toMatchObject({ engine: 'unknown', version: null, models: ['tiny'], apis: ['chat', 'completions'] });
    expect(metricsPath(found)).toBeNull();
    expect(found.findings).toContain('metrics at /metrics: unrecognised, families acme_');
  });

  it('takes nobody for vLLM because of a version, once the model list has named somebody else', async () => {
    const version = json({ version: 'v3.4.0' });
    const other = await find({ '/v1/models': models('acme'), '/version': version });
    expect([other.engine, other.version]).toEqual(['unknown', null]);
    const secret = await find({ '/v1/models': json({ error: 'Unauthorized' }, {}, 401), '/version': version });
    expect([secret.engine, secret.version]).toEqual(['vllm', 'v3.4.0']);
  });

  it("does not take a router's page for its engine's", async () => {
    const found = await find({
      '/v1/models': models('vllm'),
      '/metrics': pageText('production-stack-router-handwritten/metrics'),
      '/version': json({ version: '0.1.8' }),
    });
    expect([found.engine, found.metricsUrl]).toEqual(['vllm', null]);
  });

  it('keeps the page of an engine that is known, though there is nothing of it on the page', async () => {
    const found = await find({ ...VLLM, '/metrics': 'python_info 1\n' });
    expect([found.engine, metricsPath(found)]).toEqual(['vllm', '/metrics']);
  });

  it('says unknown, and why, for an endpoint that is not there', async () => {
    const server = await documentServer({});
    const url = server.url;
    await server.close();
    const found = await find({}, { url });
    expect(found).toMatchObject({ engine: 'unknown', metricsUrl: null, models: [], maxModelLength: null });
    expect(found.findings).toEqual(['GET /v1/models: connect (ECONNREFUSED)']);
    const told = await find({}, { url, engine: 'sglang' });
    expect([told.engine, metricsPath(told), told.apis]).toEqual(['sglang', '/metrics', ['completions', 'chat']]);
  });

  it('waits for one deadline, not for many, when nobody answers', async () => {
    const found = await find({ '/v1/models': () => {} }, { timeoutSeconds: seconds(0.05) });
    expect([found.engine, found.asked]).toEqual(['unknown', ['/v1/models']]);
  });

  it.each([
    { id: 'HTML everywhere', body: '<html>hello</html>' },
    { id: 'strange JSON', body: '{"data":[null,1,{"id":7},{"id":""}],"version":{"a":1}}' },
    { id: 'nothing', body: '' },
  ])('does not trip over $id', async ({ body }) => {
    const all = [
      '/v1/models',
      '/metrics',
      '/prometheus/metrics',
      '/v1/metrics',
      '/version',
      '/info',
      '/v2',
      '/v1/metadata',
      '/',
    ];
    const found = await find(Object.fromEntries(all.map((path) => [path, { body }])));
    expect(found).toMatchObject({ engine: 'unknown', models: [], version: null });
  });

  it('believes the configuration before the page', async () => {
    const found = await find(VLLM, { engine: 'kserve' });
    expect([found.engine, metricsPath(found)]).toEqual(['kserve', '/metrics']);
  });

  it('sends the key to the endpoint, and not to a metrics page elsewhere', async () => {
    const metrics = await documentServer({ '/metrics': pageText('vllm-0.32.0-plain/metrics-idle') });
    cleanups.push(() => metrics.close());
    const found = await find(VLLM, { apiKey: () => 'key-1', metricsUrl: new URL('/metrics', metrics.url) });
    expect(found.server.headers.every((headers) => headers.authorization === 'Bearer key-1')).toBe(true);
    expect(metrics.headers[0]).not.toHaveProperty('authorization');
    expect(JSON.stringify(found.findings)).not.toContain('key-1');
  });

  it('names only APIs that the probe speaks', async () => {
    const found = await find(VLLM);
    expect(found.apis.filter((api) => !(API_NAMES as readonly string[]).includes(api))).toEqual([]);
  });
});
