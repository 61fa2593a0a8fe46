import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { fakeContext } from '../../support/cli-context.ts';

let directory = '';
const servers: Server[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'inference-probe-once-'));
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function once(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const context = fakeContext(environment);
  const code = await runCli(['once', ...args], context);
  return { code, out: context.output(), err: context.errors() };
}

interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}
type Answer = (response: ServerResponse, index: number) => void;

/** A server that lists a model and answers completions as it is told. */
async function engine(
  answer: Answer,
  models: readonly string[] = ['tiny'],
): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      if (request.url !== '/v1/models') return void response.writeHead(404).end();
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ data: models.map((id) => ({ id, owned_by: 'vllm' })) }));
    }
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      seen.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
      answer(response, seen.length - 1);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (text: string, finish: string | null = null): string =>
  event({ choices: [{ index: 0, text, finish_reason: finish }] });

/** Four tokens and everything that belongs to a good end. */
const good: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk('a'));
  for (const [index, text] of ['b', 'c', 'd'].entries())
    setTimeout(() => response.write(chunk(text)), 20 * (index + 1));
  setTimeout(() => {
    response.write(chunk('', 'length'));
    response.write(event({ choices: [], usage: { prompt_tokens: 130, completion_tokens: 4, total_tokens: 134 } }));
    response.end('data: [DONE]\n\n');
  }, 80);
};
const stall: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk('a'));
};
const refuse =
  (status: number, message: string): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message, code: status } }));

describe('once', () => {
  it('finds model and API by itself, shows a timeline that fits 80 columns without colour, and succeeds', async () => {
    const { url, seen } = await engine(good);
    const { code, out, err } = await once(['--url', url]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`${url}\nmodel tiny, API completions, engine vllm`);
    expect(out).toMatch(/\nGOOD {4}4 tokens in \d+/);
    expect(out).toMatch(/prompt: 130 tokens \(asked for 128, prefix unique\)/);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).not.toContain('\u001b');
    expect(seen.map(({ path, body }) => [path, body.model, body.max_tokens, body.stream])).toEqual([
      ['/v1/completions', 'tiny', 32, true],
    ]);
  });

  it('prints the record as one line with --json, with null for what does not exist', async () => {
    const { url } = await engine(good);
    const { code, out } = await once(['--url', `${url}/v1/`, '--model', 'tiny', '--api', 'completions', '--json']);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toMatchObject({
      target: 'once',
      model: 'tiny',
      profile: 'once',
      api: 'completions',
      outcome: 'good',
      reason: null,
      http_status: 200,
      connection: 'fresh',
      output_tokens: 4,
      token_source: 'usage',
      prompt_tokens: 130,
      cached_prompt_tokens: null,
      finish_reason: 'length',
      terminal: true,
      cause: null,
      evidence: null,
    });
  });

  it('exits with 1 for a failed probe and says why and what to do', async () => {
    const { url } = await engine(stall);
    const { code, out } = await once(['--url', url, '--timeout', '3']);
    expect(code).toBe(1);
    expect(out).toMatch(/FAILED {2}(?:stalled|total_timeout) \(side: endpoint, stage: stream\)/);
    expect(out).toContain('asked the endpoint:');
  });

  it('exits with 1 and a record for an endpoint that is not there', async () => {
    const { code, out } = await once(['--url', 'http://127.0.0.1:1', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      outcome: 'failed',
      reason: 'connect_refused',
      side: 'endpoint',
      ttft_seconds: null,
    });
  });

  it('exits with 1 for a key that is refused', async () => {
    const { url } = await engine(refuse(401, 'no'));
    const { code, out } = await once(['--url', url, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ reason: 'unauthorized', side: 'probe', http_status: 401 });
  });

  it('exits with 2 when no model is known and the endpoint wants one', async () => {
    const { url } = await engine(refuse(404, 'no such model'), []);
    const { code, err, out } = await once(['--url', url]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('does not list its models: name one with --model');
  });

  it('sends key and headers, and shows neither', async () => {
    const { url, seen } = await engine(good);
    const key = join(directory, 'key');
    writeFileSync(key, 'sk-canary-1\n');
    const { code, out, err } = await once([
      '--url',
      url,
      '--api-key-file',
      key,
      '--header',
      'X-Note: canary-2',
      '--verbose',
    ]);
    expect(code).toBe(0);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk-canary-1', 'x-note': 'canary-2' });
    expect(out + err).not.toContain('canary');
  });

  it('takes a target and a profile of a configuration file', async () => {
    const { url, seen } = await engine(good);
    const path = join(directory, 'config.yml');
    writeFileSync(
      path,
      `profiles: [{name: p, max_tokens: 20}]\ntargets: [{name: a, url: "http://127.0.0.1:1"}, {name: b, url: "${url}", model: m}]\n`,
    );
    const { code, out } = await once(['--target', 'b', '--profile', 'p', '--json', '--config.file', path]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ target: 'b', profile: 'p', model: 'm' });
    expect(seen[0]?.body.max_tokens).toBe(20);
    expect((await once(['--target', 'c', '--config.file', path])).err).toContain(
      '--target "c" is not in the configuration; there are a, b',
    );
    expect((await once(['--model', 'x', '--config.file', path])).err).toContain(
      '--model cannot be used beside the configuration file',
    );
  });

  it('ends without a result when it is interrupted', async () => {
    const { url } = await engine(stall);
    const context = fakeContext();
    const running = runCli(['once', '--url', url], context);
    setTimeout(() => context.end(), 1000);
    expect(await running).toBe(1);
    expect([context.output(), context.errors()]).toEqual(['', 'interrupted: the probe was ended and has no result']);
  });

  it('is described by the environment of a sidecar when no flag is given', async () => {
    const { url } = await engine(good);
    const { code, out } = await once(['--json'], {
      INFERENCE_PROBE_TARGET_URL: url,
      INFERENCE_PROBE_TARGET_NAME: 'side',
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ target: 'side', outcome: 'good' });
  });
});
