import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import bcrypt from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from '../../../src/log.ts';
import { silentLogger } from '../../../src/log.ts';
import { ask, runServer } from '../../support/http-under-test.ts';
import { manualClock } from '../../support/manual-clock.ts';

const TLS = new URL('../../fixtures/tls/', import.meta.url).pathname;
const fixture = (name: string): Buffer => readFileSync(join(TLS, name));
const hashOf = (password: string): string => bcrypt.hashSync(password, 4);
const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'web-config-'));
  file = join(folder, 'web.yml');
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (text: string, deps: Parameters<typeof runServer>[0] = {}) => {
  writeFileSync(file, text);
  return runServer(deps, { webConfigFile: file });
};

describe('basic authentication', () => {
  const users = `basic_auth_users:\n  prometheus: ${hashOf('right')}\n  htpasswd: ${hashOf('other').replace('$2b$', '$2y$')}\n`;

  it.each([
    { id: 'nothing', headers: {}, status: 401 },
    { id: 'the right password', headers: basic('prometheus', 'right'), status: 200 },
    { id: 'a hash as htpasswd writes it ($2y$)', headers: basic('htpasswd', 'other'), status: 200 },
    { id: 'a wrong password', headers: basic('prometheus', 'wrong'), status: 401 },
    { id: 'the password of another user', headers: basic('prometheus', 'other'), status: 401 },
    { id: 'a user who is not there', headers: basic('nobody', 'right'), status: 401 },
    { id: 'no password', headers: basic('prometheus', ''), status: 401 },
    { id: 'another scheme', headers: { authorization: 'Bearer right' }, status: 401 },
    {
      id: 'no colon',
      headers: { authorization: `Basic ${Buffer.from('prometheus').toString('base64')}` },
      status: 401,
    },
    { id: 'no base64', headers: { authorization: 'Basic {}' }, status: 401 },
    { id: 'a very long password', headers: basic('prometheus', 'x'.repeat(3000)), status: 401 },
  ])('$id: $status', async ({ headers, status }) => {
    await using running = await run(users);
    const answer = await ask(running.port, 'GET', '/metrics', headers);
    expect(answer.status).toBe(status);
    expect(answer.headers['www-authenticate'] === undefined).toBe(status === 200);
  });

  it('guards everything but health checks', async () => {
    await using running = await run(users);
    for (const path of ['/', '/metrics', '/probes', '/config', '/api/live', '/assets/main.js', '/nothing']) {
      expect((await ask(running.port, 'GET', path)).status, path).toBe(401);
    }
    expect((await ask(running.port, 'POST', '/-/reload')).status).toBe(401);
    expect((await ask(running.port, 'GET', '/-/healthy')).status).toBe(200);
    expect((await ask(running.port, 'GET', '/-/ready')).status).toBe(200);
  });

  it('works in a thread of its own: the event loop turns while a password is compared', async () => {
    await using running = await run(`basic_auth_users:\n  slow: ${bcrypt.hashSync('right', 9)}\n`);
    let turns = 0;
    let waiting = true;
    const turn = (): void => {
      turns += 1;
      if (waiting) setImmediate(turn);
    };
    setImmediate(turn);
    expect((await ask(running.port, 'GET', '/metrics', basic('slow', 'right'))).status).toBe(200);
    waiting = false;
    expect(turns).toBeGreaterThan(50);
  });

  it('takes over changed users while running, and keeps the old ones when the file is broken', async () => {
    const error = vi.fn();
    const log: Logger = { ...silentLogger(), error };
    const clock = manualClock();
    await using running = await run(users, { clock, log });
    writeFileSync(file, `basic_auth_users:\n  prometheus: ${hashOf('new')}\n`);
    await clock.advance(6);
    expect((await ask(running.port, 'GET', '/metrics', basic('prometheus', 'right'))).status).toBe(401);
    expect((await ask(running.port, 'GET', '/metrics', basic('prometheus', 'new'))).status).toBe(200);
    writeFileSync(file, 'basic_auth_users: [broken\n');
    await clock.advance(6);
    expect(error).toHaveBeenCalledTimes(1);
    expect((await ask(running.port, 'GET', '/metrics', basic('prometheus', 'new'))).status).toBe(200);
    rmSync(file);
    await clock.advance(6);
    expect((await ask(running.port, 'GET', '/metrics')).status).toBe(401);
    writeFileSync(file, users);
    await clock.advance(6);
    expect((await ask(running.port, 'GET', '/metrics', basic('prometheus', 'right'))).status).toBe(200);
  });
});

describe('headers and rate', () => {
  it('configured headers are put on, over our own', async () => {
    await using running = await run(
      'http_server_config:\n  http2: false\n  headers:\n    Strict-Transport-Security: max-age=60\n    X-Frame-Options: SAMEORIGIN\n',
    );
    const { headers } = await ask(running.port, 'GET', '/metrics');
    expect(headers['strict-transport-security']).toBe('max-age=60');
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
  });

  it('a rate limit lets a burst pass and then one request an interval; health checks are free', async () => {
    const clock = manualClock();
    await using running = await run('rate_limit:\n  interval: 10s\n  burst: 2\n', { clock });
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await ask(running.port, 'GET', '/metrics')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await ask(running.port, 'GET', '/-/healthy')).status).toBe(200);
    await clock.advance(10);
    expect((await ask(running.port, 'GET', '/metrics')).status).toBe(200);
    expect((await ask(running.port, 'GET', '/metrics')).status).toBe(429);
  });

  it('an empty file asks for nothing', async () => {
    await using running = await run('# nothing here\n');
    expect((await ask(running.port, 'GET', '/metrics')).status).toBe(200);
  });
});

interface Handshake {
  readonly status: number;
  readonly subject: string;
}

function secureGet(
  port: number,
  options: { readonly cert?: Buffer; readonly key?: Buffer; readonly maxVersion?: 'TLSv1.1' } = {},
): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const request = get(
      { host: '127.0.0.1', port, path: '/metrics', ca: fixture('ca.pem'), agent: false, ...options },
      (response) => {
        const { CN } = (response.socket as TLSSocket).getPeerCertificate().subject;
        response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, subject: String(CN) }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
  });
}

const client = { cert: fixture('client-a.pem'), key: fixture('client-a-key.pem') };
const strange = { cert: fixture('server.pem'), key: fixture('server-key.pem') };
const tls = (more = ''): string => `tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n${more}`;

describe('TLS', () => {
  beforeEach(() => {
    copyFileSync(join(TLS, 'server.pem'), join(folder, 'cert.pem'));
    copyFileSync(join(TLS, 'server-key.pem'), join(folder, 'key.pem'));
    copyFileSync(join(TLS, 'ca.pem'), join(folder, 'clients.pem'));
    copyFileSync(join(TLS, 'other-ca.pem'), join(folder, 'others.pem'));
  });

  it('is spoken with the certificate beside the file, from 1.2 on', async () => {
    await using running = await run(tls());
    expect(await secureGet(running.port)).toEqual({ status: 200, subject: 'server' });
    await expect(secureGet(running.port, { maxVersion: 'TLSv1.1' })).rejects.toThrow();
    await expect(ask(running.port, 'GET', '/metrics')).rejects.toThrow();
  });

  it('takes over a new certificate without a restart, and none that does not fit its key', async () => {
    const clock = manualClock();
    await using running = await run(tls(), { clock });
    copyFileSync(join(TLS, 'expired.pem'), join(folder, 'cert.pem'));
    await clock.advance(6);
    expect((await secureGet(running.port)).subject).toBe('server');
    copyFileSync(join(TLS, 'expired-key.pem'), join(folder, 'key.pem'));
    await clock.advance(6);
    await expect(secureGet(running.port)).rejects.toMatchObject({ code: 'CERT_HAS_EXPIRED' });
  });

  it.each([
    { type: 'RequireAndVerifyClientCert', ca: 'clients', none: false, good: true },
    { type: 'RequireAndVerifyClientCert', ca: 'others', none: false, good: false },
    { type: 'VerifyClientCertIfGiven', ca: 'others', none: true, good: false },
    { type: 'VerifyClientCertIfGiven', ca: 'clients', none: true, good: true },
    { type: 'RequireAnyClientCert', ca: 'others', none: false, good: true },
    { type: 'RequestClientCert', ca: 'others', none: true, good: true },
    { type: 'NoClientCert', ca: 'clients', none: true, good: true },
  ])('$type with the authority $ca: no certificate $none, one of ours $good', async ({ type, ca, none, good }) => {
    await using running = await run(tls(`  client_auth_type: ${type}\n  client_ca_file: ${ca}.pem\n`));
    const passes = (options: Parameters<typeof secureGet>[1]) =>
      secureGet(running.port, options).then(
        ({ status }) => status === 200,
        () => false,
      );
    expect(await passes({})).toBe(none);
    expect(await passes(client)).toBe(good);
  });

  it('lets in only the names that are allowed', async () => {
    const config = tls(
      '  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: clients.pem\n  client_allowed_sans: [engine.test]\n',
    );
    await using running = await run(config);
    await expect(secureGet(running.port, client)).rejects.toThrow();
    expect((await secureGet(running.port, strange)).status).toBe(200);
  });
});

describe('a web configuration that cannot be used', () => {
  it.each([
    { id: 'unknown key', text: 'basic_auth_user: {}\n', says: 'basic_auth_user' },
    { id: 'unknown key inside', text: 'tls_server_config:\n  cert: x\n', says: 'tls_server_config.cert' },
    { id: 'no hash', text: 'basic_auth_users:\n  a: plain-secret\n', says: 'bcrypt' },
    {
      id: 'a header that is not on the list',
      text: 'http_server_config:\n  headers:\n    Set-Cookie: x\n',
      says: 'Set-Cookie',
    },
    {
      id: 'a header with a line break',
      text: 'http_server_config:\n  headers:\n    X-Frame-Options: "a\\nb: c"\n',
      says: 'X-Frame-Options',
    },
    { id: 'no key file', text: 'tls_server_config:\n  cert_file: cert.pem\n', says: 'key_file' },
    {
      id: 'files that are not there',
      text: 'tls_server_config:\n  cert_file: no.pem\n  key_file: no-key.pem\n',
      says: 'no.pem',
    },
    {
      id: 'clients to verify but no authority',
      text: `${tls()}  client_auth_type: RequireAndVerifyClientCert\n`,
      says: 'client_ca_file',
    },
    { id: 'no YAML', text: 'a: [\n', says: 'web.yml:' },
    { id: 'a rate of nothing', text: 'rate_limit:\n  interval: soon\n  burst: 1\n', says: 'duration' },
  ])('$id stops the start with a message that says so', async ({ text, says }) => {
    await expect(run(text)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(says) });
  });

  it('never repeats what may be a secret', async () => {
    const error = await run('basic_auth_users:\n  a: plain-secret\n').catch((caught: Error) => caught);
    expect(String((error as Error).message)).not.toContain('plain-secret');
  });

  it('that is not there at all says so', async () => {
    await expect(runServer({}, { webConfigFile: join(folder, 'gone.yml') })).rejects.toMatchObject({
      message: expect.stringContaining('does not exist'),
    });
  });
});
