import { describe, expect, test } from 'vitest';
import { classifyTransport } from '../../../src/probe/classify-transport.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import type { TransportFailure } from '../../../src/probe/transport-types.ts';

const PLACE = 'https://engine.test/v1/chat/completions';
const withCode = (code: string): Error => Object.assign(new Error('secret words'), { code });
const failed = (step: TransportFailure['step'], more: Partial<TransportFailure> = {}): TransportFailure => ({
  step,
  error: null,
  setting: null,
  attempts: [],
  proxyStatus: null,
  responseBytes: 0,
  closedByPeer: false,
  certificateExpiresAt: null,
  ...more,
});
const attempts = (...codes: string[]) => codes.map((code, index) => ({ address: `10.0.0.${index}`, code }));

describe('what breaks below HTTP', () => {
  test.each<[string, TransportFailure, FailureReason]>([
    ['a name that does not exist', failed('dns', { error: withCode('ENOTFOUND') }), 'dns'],
    ['a resolver that is away', failed('dns', { error: withCode('EAI_AGAIN') }), 'dns'],
    ['a name without addresses', failed('dns'), 'dns'],
    ['a refusal', failed('tcp', { attempts: attempts('ECONNREFUSED') }), 'connect_refused'],
    ['no route', failed('tcp', { attempts: attempts('EHOSTUNREACH', 'ENETUNREACH') }), 'connect_refused'],
    [
      'no IPv6 here and a refusal',
      failed('tcp', { attempts: attempts('EADDRNOTAVAIL', 'ECONNREFUSED') }),
      'connect_refused',
    ],
    ['a policy of this host', failed('tcp', { attempts: attempts('EACCES') }), 'connect_refused'],
    ['no answer at all', failed('tcp', { attempts: attempts('ETIMEDOUT', 'ETIMEDOUT') }), 'connect_timeout'],
    [
      'one refusal among silence',
      failed('tcp', { attempts: attempts('ETIMEDOUT', 'ECONNREFUSED') }),
      'connect_refused',
    ],
    ['no descriptors left', failed('tcp', { attempts: attempts('EMFILE') }), 'internal'],
    ['a self-signed certificate', failed('tls', { error: withCode('DEPTH_ZERO_SELF_SIGNED_CERT') }), 'tls'],
    ['an unreadable key file', failed('configuration', { error: withCode('ENOENT'), setting: 'keyFile' }), 'internal'],
    ['a bug in the set-up', failed('configuration', { error: new TypeError('x') }), 'internal'],
    ['no port of our own left', failed('tcp', { attempts: attempts('EADDRNOTAVAIL') }), 'internal'],
    ['a proxy that does not listen', failed('proxy', { attempts: attempts('ECONNREFUSED') }), 'connection_lost'],
    ['a proxy with a password', failed('proxy', { proxyStatus: 407 }), 'unauthorized'],
    ['a proxy with a policy', failed('proxy', { proxyStatus: 403 }), 'forbidden'],
    ['a proxy without a target', failed('proxy', { proxyStatus: 503 }), 'bad_gateway'],
    ['a proxy that waits in vain', failed('proxy', { proxyStatus: 504 }), 'gateway_timeout'],
    ['a proxy that breaks off', failed('proxy', { error: withCode('ECONNRESET') }), 'connection_lost'],
    ['a reset before the response', failed('request', { error: withCode('ECONNRESET') }), 'connection_lost'],
    ['a broken pipe', failed('request', { error: withCode('EPIPE') }), 'connection_lost'],
    [
      'an end before the response',
      failed('request', { error: withCode('UND_ERR_SOCKET'), closedByPeer: true }),
      'connection_lost',
    ],
    [
      'half a head',
      failed('request', { error: withCode('UND_ERR_SOCKET'), closedByPeer: true, responseBytes: 9 }),
      'connection_lost',
    ],
    ['a lone 100', failed('request', { error: withCode('UND_ERR_SOCKET'), responseBytes: 25 }), 'protocol_error'],
    [
      'an end in the body',
      failed('response', { error: withCode('UND_ERR_SOCKET'), responseBytes: 9 }),
      'connection_lost',
    ],
    [
      'an end in the body that the server had announced',
      failed('response', {
        error: Object.assign(new Error('x'), { name: 'HTTPParserError', data: '' }),
        closedByPeer: true,
        responseBytes: 9,
      }),
      'connection_lost',
    ],
    [
      'a body that breaks the syntax, and then an end',
      failed('response', {
        error: Object.assign(new Error('x'), { name: 'HTTPParserError', data: 'zz' }),
        closedByPeer: true,
        responseBytes: 9,
      }),
      'protocol_error',
    ],
    ['a short body', failed('response', { error: withCode('UND_ERR_RES_CONTENT_LENGTH_MISMATCH') }), 'connection_lost'],
    [
      'two lengths in one head',
      failed('request', { error: withCode('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), responseBytes: 9 }),
      'protocol_error',
    ],
    ['a peer that vanished', failed('response', { error: withCode('ETIMEDOUT') }), 'connection_lost'],
    [
      'no HTTP',
      failed('request', { error: Object.assign(new Error('x'), { name: 'HTTPParserError' }) }),
      'protocol_error',
    ],
    ['an endless head', failed('request', { error: withCode('UND_ERR_HEADERS_OVERFLOW') }), 'response_too_large'],
    [
      "undici's own patience for headers",
      failed('request', { error: withCode('UND_ERR_HEADERS_TIMEOUT') }),
      'headers_timeout',
    ],
    ["undici's own patience for bodies", failed('response', { error: withCode('UND_ERR_BODY_TIMEOUT') }), 'stalled'],
    [
      'a client certificate that is missing',
      failed('request', { error: withCode('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED') }),
      'tls',
    ],
    ['a header that cannot be sent', failed('request', { error: withCode('UND_ERR_INVALID_ARG') }), 'internal'],
    ['a bug of ours', failed('request', { error: new TypeError('x') }), 'internal'],
    ['a thrown string', failed('request', { error: 'boom' }), 'internal'],
    ['a code that is no code', failed('request', { error: withCode('secret words') }), 'internal'],
  ])('%s has its reason', (_, failure, reason) => {
    const result = classifyTransport(PLACE, failure);
    expect(result.reason).toBe(reason);
    expect(JSON.stringify(result)).not.toContain('secret words');
  });

  test.each([
    ['a plain server', 'ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['HTTP/2 alone', 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'HTTP/2 only'],
  ])('%s behind https gives a hint', (_, code, hint) => {
    expect(classifyTransport(PLACE, failed('tls', { error: withCode(code) })).message).toContain(hint);
  });

  test('every address that was tried is named', () => {
    const { message, detail } = classifyTransport(
      PLACE,
      failed('tcp', { attempts: attempts('ECONNREFUSED', 'ENETUNREACH') }),
    );
    expect(message).toContain('10.0.0.0 ECONNREFUSED, 10.0.0.1 ENETUNREACH');
    expect(detail.addresses).toEqual(['10.0.0.0 ECONNREFUSED', '10.0.0.1 ENETUNREACH']);
  });
});
