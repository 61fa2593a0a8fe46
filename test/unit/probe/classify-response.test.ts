import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { classifyErrorObject, classifyResponse, type ErrorResponse } from '../../../src/probe/classify-response.ts';
import { readErrorBody } from '../../../src/probe/error-object.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';

const response = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): ErrorResponse => ({
  place: 'http://engine.test/v1/chat/completions',
  status,
  headers,
  body,
  error: readErrorBody(body),
  parameters: ['model', 'messages', 'max_tokens', 'temperature'],
});
const HTML = { 'content-type': 'text/html' };

describe('a response that is an error', () => {
  test.each<[string, number, string, FailureReason, Readonly<Record<string, string>>?]>([
    ['a missing key', 401, '{"error":"Unauthorized"}', 'unauthorized'],
    ['a bill', 402, '', 'quota_exhausted'],
    ['a policy', 403, 'RBAC: access denied', 'forbidden'],
    ['a spent quota as 403', 403, '{"error":{"type":"insufficient_quota"}}', 'quota_exhausted'],
    [
      'a spent quota as 429',
      429,
      '{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}',
      'quota_exhausted',
    ],
    ['no path', 404, '{"detail":"Not Found"}', 'not_found'],
    ['a gone model', 410, '', 'not_found'],
    ['a wrong method', 405, '{"detail":"Method Not Allowed"}', 'bad_request'],
    ['a large request', 413, '', 'bad_request'],
    ['a request that does not validate', 422, '{"detail":[{"loc":["body","x"]}]}', 'bad_request'],
    ['a teapot', 418, '', 'bad_request'],
    ['a proxy that wants credentials', 407, '', 'unauthorized'],
    ['a slow request', 408, '', 'gateway_timeout'],
    ['TGI that failed to generate', 424, '{"error":"x","error_type":"generation"}', 'server_error'],
    ['TGI that is full', 429, '{"error":"Model is overloaded","error_type":"overloaded"}', 'overloaded'],
    ['a rate limit', 429, '', 'rate_limited'],
    ['a rate limit of Anthropic as 400', 400, '{"type":"error","error":{"type":"rate_limit_error"}}', 'rate_limited'],
    ['an internal error', 500, '{"error":{"message":"x"}}', 'server_error'],
    ['an overload of Anthropic as 500', 500, '{"type":"error","error":{"type":"overloaded_error"}}', 'overloaded'],
    ['a missing feature', 501, '', 'server_error'],
    ['nginx without an engine', 502, '<html>', 'bad_gateway', HTML],
    [
      'llama.cpp that loads',
      503,
      '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      'starting',
    ],
    ['a server that warms up', 503, 'The model is still loading', 'starting'],
    ['vLLM at its admission limit', 503, '{"error":{"message":"too many requests queued","code":503}}', 'overloaded'],
    ['HAProxy without an engine', 503, 'No server is available to handle this request.', 'no_upstream', HTML],
    ["a gateway's own page", 503, '<html>503 Service Temporarily Unavailable</html>', 'no_upstream', HTML],
    ['a router without workers', 503, '{"error":{"message":"No available workers"}}', 'no_upstream'],
    ['Envoy that cannot connect', 503, 'upstream connect error or disconnect/reset before headers', 'bad_gateway'],
    ['a gateway that was hung up on', 499, '', 'bad_gateway'],
    ['nothing but 503', 503, '', 'overloaded'],
    [
      'LiteLLM with all deployments in their cool-down',
      429,
      '{"error":{"message":"No deployments available for selected model, Try again in 5 seconds","type":"None","code":"429"}}',
      'no_upstream',
    ],
    ['Kong without an engine', 503, '{"message":"failure to get a peer from the ring-balancer"}', 'no_upstream'],
    [
      "Envoy's circuit breaker",
      503,
      'upstream connect error or disconnect/reset before headers. reset reason: overflow',
      'overloaded',
    ],
    [
      'a model with a long name that loads',
      503,
      '{"error":"Model acme/Some-Very-Long-Name-405B-Instruct-FP8 is currently loading"}',
      'starting',
    ],
    [
      'a prompt that the filter refuses',
      400,
      '{"error":{"code":"content_filter","status":400,"param":"prompt"}}',
      'content_filtered',
    ],
    ['a policy of content', 400, '{"error":{"type":"ContentPolicyViolationError"}}', 'content_filtered'],
    ['an unknown model as 400', 400, '{"error":{"code":"model_not_found"}}', 'not_found'],
    ["Google's array", 429, '[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]', 'rate_limited'],
    ['an impatient gateway', 504, '', 'gateway_timeout'],
    ['Cloudflare 520', 520, '', 'bad_gateway'],
    ['Cloudflare 524', 524, '', 'gateway_timeout'],
    ['Anthropic 529', 529, '', 'overloaded'],
    ['an invented status', 599, '', 'server_error'],
    ['a redirect', 302, '', 'redirected'],
    ['not modified', 304, '', 'redirected'],
  ])('of %s has its reason', (_, status, body, reason, headers = {}) => {
    const failure = classifyResponse(response(status, body, headers));
    expect(failure.reason).toBe(reason);
    expect(failure.detail.status).toBe(status);
  });

  test('that names a parameter of ours says which, and no other word of the server', () => {
    const { message, detail } = classifyResponse(
      response(400, '{"error":{"message":"temperature must be non-negative, got -1.0","param":"temperature"}}'),
    );
    expect(detail.parameter).toBe('temperature');
    expect(message).toContain('about the parameter temperature');
    expect(message).not.toContain('non-negative');
  });

  test('that names a parameter we did not send says nothing of it', () => {
    const { message } = classifyResponse(response(400, '{"error":{"message":"x","param":"sk-secret"}}'));
    expect(message).not.toContain('sk-secret');
  });

  test('about output that was used up says so', () => {
    const body =
      '{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached"}}';
    expect(classifyResponse(response(400, body)).detail.refused_for).toBe('max_tokens_too_small');
  });
});

describe('an error inside a stream', () => {
  const inStream = (fields: object) => {
    const error = readErrorBody(JSON.stringify({ error: fields }));
    if (error === null) throw new Error('no error object');
    return classifyErrorObject({ ...response(200, ''), error });
  };

  test.each<[string, object, FailureReason]>([
    ['a dead engine', { message: 'engine died', type: 'InternalServerError', code: 500 }, 'stream_error'],
    ['no code at all', { message: 'x' }, 'stream_error'],
    ['an unknown code', { message: 'x', code: 'E17' }, 'stream_error'],
    ['a full queue', { message: 'The request queue is full.', code: 503 }, 'overloaded'],
    ['a model that loads', { message: 'Loading model', code: 503 }, 'starting'],
    ['too many requests', { message: 'x', code: 429 }, 'rate_limited'],
    ['a status as text', { message: 'x', code: '429' }, 'rate_limited'],
    ['an overload', { type: 'overloaded_error' }, 'overloaded'],
    ['529', { message: 'x', code: 529 }, 'overloaded'],
    ['a long prompt', { message: 'prompt too long', code: 400 }, 'bad_request'],
    ['a long prompt without a status', { message: 'x', type: 'context_length_exceeded' }, 'bad_request'],
    ['a spent budget', { type: 'budget_exceeded', code: 400 }, 'quota_exhausted'],
    ['a bad key', { type: 'authentication_error' }, 'unauthorized'],
    ['a dead upstream', { message: 'x', code: 502 }, 'bad_gateway'],
    ["LiteLLM's words for a rate limit", { type: 'RateLimitError' }, 'rate_limited'],
    ["LiteLLM's words for a missing engine", { type: 'ServiceUnavailableError' }, 'overloaded'],
    ["Bedrock's words for a rate limit", { type: 'ThrottlingException' }, 'rate_limited'],
  ])('of %s has its reason', (_, fields, reason) => {
    expect(inStream(fields).reason).toBe(reason);
  });

  test('says that HTTP was 200, and the code inside', () => {
    const { message, detail } = inStream({ message: '/usr/lib/python3/vllm.py line 7', code: 500 });
    expect(message).toContain('HTTP 200, then an error object with code 500');
    expect(message).not.toContain('python');
    expect(detail).toEqual({ status: 200, error_status: 500 });
  });
});

describe('error bodies of real engines', () => {
  const root = fileURLToPath(new URL('../../fixtures/streams/', import.meta.url));
  const recorded = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/(?:e-|err_|u-field|u-min\.)[^/]*\.body$/.test(path),
  );

  const statusOf = (path: string): number => (/nomodel|e-model/.test(path) ? 404 : path.includes('method') ? 405 : 400);
  const texts = recorded
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }))
    // SGLang answers any model name, and Dynamo any min_tokens.
    .filter(({ text }) => !text.startsWith('data:') && !text.includes('"choices"'));

  test('were found', () => {
    expect(texts.length).toBeGreaterThan(20);
  });

  test.each(texts)('$path is understood', ({ path, text }) => {
    const status = statusOf(path);
    const { reason, detail } = classifyResponse(response(status, text));
    expect(reason).toBe(status === 404 ? 'not_found' : 'bad_request');
    expect(readErrorBody(text)).not.toBeNull();
    if (/longprompt|prompt_too_long|max_?tokens_too|e-maxtokens/.test(path)) {
      expect(detail.refused_for).toBe('prompt_too_long');
    }
  });
});
