import { describe, expect, test } from 'vitest';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { toRecord } from '../../../src/record.ts';
import { type RigOptions, recordingLogger, withRig } from '../../support/probe-rig.ts';
import type { Script } from '../../support/scripted-server.ts';
import { GOOD_STREAM, respond, stream, token } from '../../support/stream-text.ts';

/** Every secret, and the prompt, contains this word; base64 hides it, so its own form is looked for too. */
const CANARY = 'cAnArY7';
const KEY = `sk-${CANARY}`;
const PASSWORD = `pw%${CANARY}`;
const QUERY = `api-key=${CANARY}`;
const PROMPT = `the prompt ${CANARY}`;
const BASIC = Buffer.from(`user:${PASSWORD}`).toString('base64');
const FORMS = [CANARY, CANARY.toLowerCase(), BASIC, encodeURIComponent(PASSWORD)];

/** Servers that repeat in their answers whatever they were told. */
const ECHO = `key ${KEY} password ${PASSWORD} ${BASIC} query ${QUERY} prompt ${PROMPT}`;
const echo = (status: number, headers: Readonly<Record<string, string>> = {}): Script => {
  const body = JSON.stringify({
    error: { message: ECHO, type: CANARY, code: CANARY, param: CANARY },
    detail: [{ loc: ['body', KEY], msg: ECHO }],
  });
  return () => respond(status, { 'Content-Type': 'application/json', 'X-Echo': KEY, ...headers }, body);
};
const inStream = (text: string): Script => {
  const steps = stream([
    [0, token(CANARY)],
    [5, text],
  ]);
  return () => steps;
};

interface Path {
  readonly title: string;
  readonly reason: FailureReason | 'good';
  readonly options: RigOptions & { readonly key?: () => string };
}

/** An address with a password and a key in it. */
const at = (url: string, more: RigOptions['target'] = {}): RigOptions => ({
  target: { url: `${url.replace('://', `://user:${PASSWORD}@`)}/?${QUERY}`, ...more },
});
const throughProxy = (proxyUrl: string): RigOptions['target'] => ({ connection: { proxyUrl } });
const NOBODY = '127.0.0.1:1';
const SECRET_PROXY = `http://user:${PASSWORD}@${NOBODY}`;

const PATHS: readonly Path[] = [
  { title: 'a refused connection', reason: 'connect_refused', options: at(`http://${NOBODY}`) },
  {
    title: 'a host with two addresses that refuse',
    reason: 'connect_refused',
    options: { ...at('http://engine.test:1'), dependencies: { resolve: async () => ['127.0.0.1', '::1'] } },
  },
  {
    title: 'a name that does not resolve',
    reason: 'dns',
    options: {
      ...at('http://engine.test'),
      dependencies: {
        resolve: async () => {
          throw Object.assign(new AggregateError([new Error(KEY)], KEY), { code: 'ENOTFOUND', hostname: KEY });
        },
      },
    },
  },
  {
    title: 'a resolver that throws a string',
    reason: 'dns',
    options: {
      ...at('http://engine.test'),
      dependencies: {
        resolve: async () => {
          throw KEY;
        },
      },
    },
  },
  {
    title: 'a proxy that is down',
    reason: 'connection_lost',
    options: at('http://engine.test', throughProxy(SECRET_PROXY)),
  },
  {
    title: 'a proxy that is down, with a tunnel',
    reason: 'connection_lost',
    options: at('https://engine.test', throughProxy(SECRET_PROXY)),
  },
  {
    title: 'a proxy whose URL is none',
    reason: 'internal',
    options: at('https://engine.test', throughProxy(`http://user:${PASSWORD}@[`)),
  },
  {
    title: 'a proxy of another kind',
    reason: 'internal',
    options: at('https://engine.test', throughProxy(`socks5://user:${PASSWORD}@${NOBODY}`)),
  },
  {
    title: 'a CA file that is not there',
    reason: 'internal',
    options: at('https://127.0.0.1:1', { connection: { caFile: '/nowhere/ca.pem' } }),
  },
  ...(
    [
      [400, 'bad_request'],
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [404, 'not_found'],
      [422, 'bad_request'],
      [429, 'rate_limited'],
      [500, 'server_error'],
      [502, 'bad_gateway'],
      [503, 'overloaded'],
      [504, 'gateway_timeout'],
    ] as const
  ).map(([status, reason]) => ({
    title: `HTTP ${status} that repeats everything`,
    reason,
    options: { script: echo(status) },
  })),
  {
    title: 'a header in capitals that takes the place of the key',
    reason: 'unauthorized',
    options: { script: echo(401), target: { headers: { AUTHORIZATION: `Bearer ${KEY}` } } },
  },
  { title: 'HTTP 200 that repeats everything', reason: 'stream_error', options: { script: echo(200) } },
  {
    title: 'a redirect that carries the key',
    reason: 'redirected',
    options: { script: echo(307, { Location: `https://user:${KEY}@login.test/?${QUERY}#${KEY}` }) },
  },
  {
    title: 'an encoding by the name of the key',
    reason: 'protocol_error',
    options: { script: echo(200, { 'Content-Encoding': `${KEY} ${ECHO}` }) },
  },
  {
    title: 'an error object in the stream',
    reason: 'stream_error',
    options: { script: inStream(`data: ${JSON.stringify({ error: { message: ECHO, code: KEY } })}\n\n`) },
  },
  {
    title: 'a finish reason by the name of the key',
    reason: 'good',
    options: {
      script: inStream(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: KEY }] })}\n\n`),
    },
  },
  {
    title: 'a field by the name of the key',
    reason: 'truncated',
    options: { script: inStream(`${KEY}: ${ECHO}\n\n`) },
  },
  {
    title: 'bytes that are not HTTP',
    reason: 'protocol_error',
    options: { script: () => [{ atMs: 0, act: `${ECHO}\r\n\r\n` }] },
  },
  {
    title: 'an answer that is not the expected one',
    reason: 'expectation_failed',
    options: {
      script: () => GOOD_STREAM,
      profile: { expect: { minTokens: null, pattern: null, answer: 'no', detectDegenerate: false } },
    },
  },
  {
    title: 'a key with a line end in it',
    reason: 'internal',
    options: { script: () => GOOD_STREAM, key: () => `${KEY}\n${KEY}` },
  },
  {
    title: 'a key that cannot be a header',
    reason: 'internal',
    options: { script: () => GOOD_STREAM, key: () => `“${KEY}”\u0000` },
  },
  {
    title: 'a key that cannot be read',
    reason: 'internal',
    options: {
      key: () => {
        throw new AggregateError([new Error(KEY, { cause: KEY })], `cannot read ${KEY}`);
      },
    },
  },
  {
    title: 'a header value with a line end in it',
    reason: 'internal',
    options: { script: () => GOOD_STREAM, target: { headers: { 'X-Api-Key': `${KEY}\r\nX: ${KEY}` } } },
  },
  {
    title: 'a header whose name is a secret by mistake',
    reason: 'internal',
    options: { script: () => GOOD_STREAM, target: { headers: { [`X ${KEY}`]: KEY } } },
  },
];

async function everythingSaid({ key = () => KEY, ...options }: Path['options']): Promise<[ProbeOutcome, string]> {
  const log = recordingLogger();
  const target = { headers: { 'X-API-Key': KEY }, ...options.target, apiKey: key };
  const profile = { prompt: PROMPT, ...options.profile };
  const dependencies = { log, ...options.dependencies };
  return withRig({ path: `/?${QUERY}`, ...options, target, profile, dependencies }, async ({ probe }) => {
    const outcome = await probe();
    const record = toRecord({ outcome, engine: null, diagnosis: null, warmup: false });
    return [outcome, JSON.stringify([outcome, record, log.lines])];
  });
}

describe('no secret, no prompt and no word of a server is in the outcome, the record or the log', () => {
  test.each(PATHS)('after $title', async ({ options, reason }) => {
    const [outcome, said] = await everythingSaid(options);
    expect(outcome.outcome === 'failed' ? outcome.failure.reason : 'good').toBe(reason);
    for (const form of FORMS) expect(said).not.toContain(form);
  });

  test('after a good probe', async () => {
    const [outcome, said] = await everythingSaid({ script: () => GOOD_STREAM });
    expect(outcome.outcome).toBe('good');
    for (const form of FORMS) expect(said).not.toContain(form);
  });
});

test('a password with a stray per cent sign reaches the endpoint as it is', async () => {
  const options: RigOptions = { script: () => GOOD_STREAM };
  await withRig(options, async ({ server }) => {
    const url = server.url.replace('://', `://user:${PASSWORD}@`);
    await withRig({ ...options, target: { url } }, async ({ good }) => {
      await good();
      expect(server.requests[0]?.headers.authorization).toBe(`Basic ${BASIC}`);
    });
  });
});
