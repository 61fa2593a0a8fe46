import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, type Running, start } from '../../support/bundle.ts';
import { type ScriptedServer, type Step, startScriptedServer } from '../../support/scripted-server.ts';

/** In every place where a secret can be, another one; any of them anywhere is a leak. */
const CANARY = 'canary-7f3a';
const LEAK = /canary-7f3a|prompt-7f3a|answer-7f3a/i;

const respond = (status: number, type: string, body: string, more = ''): readonly Step[] => [
  {
    atMs: 0,
    act: `HTTP/1.1 ${status} ${CANARY}\r\nContent-Type: ${type}\r\nX-Echo: ${CANARY}\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  },
];
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const delta = (text: string): string => event({ choices: [{ index: 0, text, finish_reason: null }] });

/** A server that says every secret that it was told in each place where a server can say something. */
const ECHOES: Readonly<Record<string, (head: string) => readonly Step[]>> = {
  refused: (head) =>
    respond(401, 'application/json', JSON.stringify({ error: { message: head, type: CANARY, code: CANARY } })),
  wrong: (head) =>
    respond(400, 'application/json', JSON.stringify({ error: { message: `unknown field ${head}`, param: CANARY } })),
  broken: (head) => respond(500, `text/${CANARY}`, `<html>${head}</html>`),
  elsewhere: () => respond(302, 'text/plain', CANARY, `Location: http://u:${CANARY}@other.example/?k=${CANARY}\r\n`),
  limited: (head) =>
    respond(429, 'application/json', JSON.stringify({ error: { message: head } }), `Retry-After: ${CANARY}\r\n`),
  garbage: (head) => [{ atMs: 0, act: `${CANARY} ${head}\r\n\r\n` }],
  stream: (head) =>
    respond(
      200,
      'text/event-stream',
      `event: ${CANARY}\nid: ${CANARY}\n: ${CANARY}\n${delta(`answer-7f3a ${head}`)}${event({ error: { message: head, code: CANARY } })}`,
    ),
  good: (head) =>
    respond(
      200,
      'text/event-stream',
      `${delta(`answer-7f3a ${head}`)}${event({ id: CANARY, model: CANARY, choices: [{ text: ' x', finish_reason: 'stop' }] })}data: [DONE]\n\n`,
    ),
};

const ROUTES = [
  '/',
  '/metrics',
  '/config',
  '/probes',
  '/api/live',
  '/api/live?target=good',
  '/-/healthy',
  '/-/ready',
  `/${CANARY}`,
];

let server: ScriptedServer;
let exporter: Running;
let base = '';
let folder = '';
const bodies: string[] = [];

const fetchText = async (path: string, init: RequestInit = {}): Promise<string> => {
  const response = await fetch(base + path, { ...init, headers: { connection: 'close', ...init.headers } });
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
};

function config(): string {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const key = file('key', `sk-${CANARY}\n`);
  // Not there at the start; a broken rotation puts it there.
  const torn = join(folder, 'torn');
  const header = file('header', `Basic ${CANARY}`);
  const targets = Object.keys(ECHOES).map(
    (name) => `
  - name: ${name}
    url: "${server.url}/${name}"
    api_key_file: ${key}
    headers: {X-API-KEY: "${CANARY}", X-Tenant: "${CANARY}"}
    header_files: {PROXY-AUTHORIZATION: ${header}}
    metrics: {url: "${server.url}/metrics?token=${CANARY}", every: 500ms}`,
  );
  return `
log: {level: debug}
web: {listen_address: "127.0.0.1:0"}
profiles:
  - {name: cold, every: 1s, allow_overlap: true, prompt: "prompt-7f3a", max_tokens: 16, extra_body: {metadata: {note: "${CANARY}"}}, deadlines: {total: 4s}}
targets:${targets.join('')}
  - {name: torn, url: "http://127.0.0.1:1", model: m, api: completions, api_key_file: ${torn}}
  - {name: nobody, url: "http://localhost:1", model: m, api: completions, api_key_file: ${key}, connection: {proxy_url: "http://u:${CANARY}@127.0.0.1:1"}}
  - {name: aggregate, url: "http://localhost:1", model: m, api: completions, api_key_file: ${key}}
  - {name: unknown-host, url: "http://no-such-host.invalid:1", model: m, api: completions, api_key_file: ${key}}
  - {name: tls, url: "https://127.0.0.1:${server.port}", model: m, api: completions, api_key_file: ${key}}
`.replaceAll('    api_key_file', '    model: m\n    api: completions\n    warmup_probes: 0\n    api_key_file');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inference-probe-emitted-'));
  server = await startScriptedServer({
    script: ({ line, headers, body }) => {
      const [, name = ''] = /^\w+ \/(\w+)/.exec(line) ?? [];
      if (name === 'metrics') {
        return respond(
          200,
          'text/plain',
          `# HELP x ${CANARY}\nvllm:num_requests_running{model_name="m",key="${CANARY}"} 1\n${CANARY}{ 1\n`,
        );
      }
      return ECHOES[name]?.(`${JSON.stringify(headers)} ${body}`) ?? respond(404, 'text/plain', CANARY);
    },
  });
  const path = join(folder, 'config.yml');
  writeFileSync(path, config());
  exporter = start(process.execPath, [await bundle(), 'serve', '--config.file', path], {
    HTTP_PROXY: `http://u:${CANARY}@127.0.0.1:1`,
  });
  const [, port] = await exporter.saying(/"port":(\d+).*"listening"/);
  base = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'torn'), `sk-${CANARY}\r\nX-Inner: ${CANARY}\n`);
  const failing = [
    'refused',
    'wrong',
    'broken',
    'elsewhere',
    'limited',
    'garbage',
    'stream',
    'torn',
    'nobody',
    'aggregate',
    'unknown-host',
    'tls',
  ];
  for (const name of failing) await exporter.saying(new RegExp(`"target":"${name}".*"reason"`));
  await exporter.saying(/"target":"good".*first probe is good/);

  for (const route of ROUTES) bodies.push(await fetchText(route));
  bodies.push(await fetchText(`/probe?target=${server.url}/asked-for&module=x`));
  bodies.push(await fetchText('/metrics', { headers: { accept: 'application/openmetrics-text' } }));
  const probes = (await (await fetch(`${base}/probes`)).json()) as readonly { readonly id: string }[];
  expect(probes.length).toBeGreaterThan(failing.length / 2);
  for (const { id } of probes) bodies.push(await fetchText(`/probes/${id}`));
  bodies.push(await fetchText('/-/reload', { method: 'POST', headers: { authorization: CANARY, cookie: CANARY } }));
  // A configuration with secrets where none belong.
  writeFileSync(
    path,
    `targets: [{name: a, url: "http://u:${CANARY}@x", api_key: "${CANARY}", headers: {A: ["${CANARY}"]}}]\n`,
  );
  bodies.push(await fetchText('/-/reload', { method: 'POST' }));
  writeFileSync(path, `targets: [{name: a, url: "http://x?api-key=${CANARY}"\n`);
  bodies.push(await fetchText('/-/reload', { method: 'POST' }));
  exporter.signal('SIGTERM');
  await exporter.finished();
}, 100_000);
afterAll(async () => {
  exporter?.dispose();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('everything that the process ever emitted', () => {
  it('was tempted: the server was told the secrets and said them back', () => {
    const heads = JSON.stringify(server.requests.map(({ headers }) => headers));
    for (const header of [
      '"authorization":"Bearer sk-canary',
      '"x-api-key":"canary',
      '"proxy-authorization":"Basic canary',
    ]) {
      expect(heads).toContain(header);
    }
    expect(server.requests.some(({ body }) => body.includes('prompt-7f3a') && body.includes(CANARY))).toBe(true);
  });

  it('holds no key, header, prompt, answer or text of a response: not in the log at debug', () => {
    expect(
      exporter
        .said()
        .split('\n')
        .filter((line) => LEAK.test(line)),
    ).toEqual([]);
  });

  it('nor in an answer on any route, except where a path is said back to who asked', () => {
    expect(bodies.length).toBeGreaterThan(ROUTES.length + 5);
    expect(bodies.filter((body) => LEAK.test(body)).map((body) => body.slice(0, 2000))).toEqual([]);
  });

  it('sends a secret to its own target only: a redirect is not followed', () => {
    expect(server.requests.filter(({ headers }) => headers.host?.includes('other.example'))).toEqual([]);
  });

  it('contacts no address that a request names', async () => {
    expect(bodies.filter((body) => body.startsWith('404')).length).toBeGreaterThanOrEqual(2);
    expect(server.requests.filter(({ line }) => line.includes('/asked-for'))).toEqual([]);
  });
});
