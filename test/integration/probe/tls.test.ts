import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { type RigOptions, recordingLogger, withRig } from '../../support/probe-rig.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';
import { GOOD_STREAM } from '../../support/stream-text.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const pem = (name: string): string => readFileSync(fixture(name), 'utf8');

const serverWith = (name: string, more: TlsOptions = {}): TlsOptions => ({
  cert: pem(`${name}.pem`),
  key: pem(`${name}-key.pem`),
  ALPNProtocols: ['http/1.1'],
  ...more,
});
const DEMANDS_CLIENT = { requestCert: true, rejectUnauthorized: true, ca: pem('ca.pem') };

const tlsRig = (tls: TlsOptions, connection: NonNullable<RigOptions['target']>['connection'] = {}): RigOptions => ({
  script: () => GOOD_STREAM,
  tls,
  target: { connection: { caFile: fixture('ca.pem'), ...connection } },
});

async function inTemporaryDirectory(use: (path: (name: string) => string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'probe-tls-'));
  try {
    await use((name) => join(directory, name));
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('TLS', () => {
  test('with a private CA works, is a phase of its own, and tells when the certificate expires', async () => {
    await withRig(tlsRig(serverWith('server')), async ({ good }) => {
      const outcome = await good();
      expect(outcome.phases.tls).toBeGreaterThan(0);
      expect(outcome.certificateExpiresAt).toBe(Date.UTC(2120, 0, 1) / 1000);
      const reused = await good();
      expect(reused).toMatchObject({ connection: 'reused', certificateExpiresAt: outcome.certificateExpiresAt });
    });
  });

  test('on a reused connection that the server has dropped is set up anew, once', async () => {
    const script = (_: unknown, index: number) => (index === 1 ? [{ atMs: 0, act: 'RST' as const }] : GOOD_STREAM);
    await withRig({ ...tlsRig(serverWith('server')), script }, async ({ good, server }) => {
      await good();
      const outcome = await good();
      expect(outcome).toMatchObject({ connection: 'fresh', retriedStaleConnection: true });
      expect(outcome.phases.tls).toBeGreaterThan(0);
      expect(server.requests).toHaveLength(3);
    });
  });

  test('is not resumed on fresh connections: each pays what a new client pays', async () => {
    const resumed: boolean[] = [];
    const options = tlsRig(serverWith('server'));
    const onConnection = (socket: unknown): boolean => {
      resumed.push((socket as TLSSocket).isSessionReused());
      return false;
    };
    await withRig({ ...options, onConnection, profile: { connection: 'fresh' } }, async ({ good }) => {
      await good();
      await good();
      await good();
      expect(resumed).toEqual([false, false, false]);
    });
  });

  test.each([
    ['an unknown CA', 'server', { caFile: fixture('other-ca.pem') }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['no CA of its own', 'server', { caFile: null }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['another name', 'server', { serverName: 'wrong.test' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['an expired certificate', 'expired', {}, 'CERT_HAS_EXPIRED'],
  ])('with %s is refused before anything is sent', async (_, name, connection, code) => {
    await withRig(tlsRig(serverWith(name), connection), async ({ failed, server }) => {
      const { failure, requestAt, certificateExpiresAt } = await failed();
      expect(failure).toMatchObject({ reason: 'tls', side: 'path', detail: { code } });
      expect(requestAt).toBeNull();
      expect(server.requests).toHaveLength(0);
      expect(certificateExpiresAt).toBe(Date.UTC(name === 'expired' ? 2021 : 2120, 0, 1) / 1000);
    });
  });

  test('can be had without verification', async () => {
    const insecure = { caFile: null, insecureSkipVerify: true };
    await withRig(tlsRig(serverWith('expired'), insecure), async ({ good }) => {
      expect((await good()).certificateExpiresAt).toBe(Date.UTC(2021, 0, 1) / 1000);
    });
  });

  test('sends the configured server name and verifies against it', async () => {
    const names: unknown[] = [];
    const options = tlsRig(serverWith('server'), { serverName: 'engine.test' });
    const onConnection = (socket: unknown): boolean => {
      names.push((socket as TLSSocket & { servername: unknown }).servername);
      return false;
    };
    await withRig({ ...options, onConnection }, async ({ good }) => {
      await good();
      expect(names).toEqual(['engine.test']);
    });
  });

  test('against a plain port says so', async () => {
    const plain = await startScriptedServer({
      onConnection: (socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
        return true;
      },
    });
    await withRig({ target: { url: `https://127.0.0.1:${plain.port}` } }, async ({ failed }) => {
      const { failure } = await failed();
      expect(failure.reason).toBe('tls');
      expect(failure.message).toContain('does not speak TLS');
    });
    await plain.close();
  });

  test('plain HTTP against a TLS port fails with a reason of the path', async () => {
    const secure = await startScriptedServer({ tls: serverWith('server') });
    await withRig({ target: { url: `http://127.0.0.1:${secure.port}` } }, async ({ failed }) => {
      expect(['protocol_error', 'connection_lost']).toContain((await failed()).failure.reason);
    });
    await secure.close();
  });

  test('a peer that hangs up in the handshake is tls', async () => {
    const rude = await startScriptedServer({
      onConnection: (socket) => {
        socket.once('data', () => socket.destroy());
        return true;
      },
    });
    await withRig({ target: { url: `https://127.0.0.1:${rude.port}` } }, async ({ failed }) => {
      expect((await failed()).failure).toMatchObject({ reason: 'tls', detail: { code: 'ECONNRESET' } });
    });
    await rude.close();
  });
});

test('a peer that never answers the handshake meets the connect deadline, at that step', async () => {
  const mute = await startScriptedServer({ onConnection: () => true });
  const profile = { deadlines: { connectSeconds: seconds(0.2) } };
  await withRig({ target: { url: `https://127.0.0.1:${mute.port}` }, profile }, async ({ failed }) => {
    const { failure, requestAt } = await failed();
    expect(failure).toMatchObject({ reason: 'connect_timeout', detail: { step: 'tls', addresses: ['127.0.0.1'] } });
    expect(requestAt).toBeNull();
  });
  await mute.close();
});

describe('client certificates', () => {
  const client = (name: string) => ({ certFile: fixture(`${name}.pem`), keyFile: fixture(`${name}-key.pem`) });

  test('are shown to a server that demands one', async () => {
    await withRig(tlsRig(serverWith('server', DEMANDS_CLIENT), client('client-a')), async ({ good }) => {
      expect((await good()).httpStatus).toBe(200);
    });
  });

  test('that are missing end as tls or as a lost connection, never as an unknown fault', async () => {
    await withRig(tlsRig(serverWith('server', DEMANDS_CLIENT)), async ({ failed }) => {
      expect(['tls', 'connection_lost']).toContain((await failed()).failure.reason);
    });
  });

  test('G-074: are read again when they change, as a pair that matches', async () => {
    const subjects: unknown[] = [];
    const onConnection = (socket: unknown): boolean => {
      subjects.push((socket as TLSSocket).getPeerCertificate().subject?.CN);
      return false;
    };
    await inTemporaryDirectory(async (path) => {
      const log = recordingLogger();
      const [certFile, keyFile] = [path('tls.crt'), path('tls.key')];
      await symlink(fixture('client-a.pem'), certFile);
      await symlink(fixture('client-a-key.pem'), keyFile);
      const options = tlsRig(serverWith('server', DEMANDS_CLIENT), { certFile, keyFile });
      const profile = { connection: 'fresh' } as const;
      await withRig({ ...options, onConnection, profile, dependencies: { log } }, async ({ good }) => {
        expect((await good()).clientCertificateExpiresAt).toBe(Date.UTC(2120, 0, 1) / 1000);
        // Half a rotation: the certificate of the new pair beside the key of the old one.
        await unlink(certFile);
        await symlink(fixture('client-b.pem'), certFile);
        await good();
        expect(log.lines.join()).toContain('the last good ones stay');
        await unlink(keyFile);
        await symlink(fixture('client-b-key.pem'), keyFile);
        await good();
        expect(subjects).toEqual(['client-a', 'client-a', 'client-b']);
      });
    });
  });

  test('that cannot be read are a fault of ours, with a code and without the path', async () => {
    await inTemporaryDirectory(async (path) => {
      await copyFile(fixture('client-a.pem'), path('tls.crt'));
      const missing = { certFile: path('tls.crt'), keyFile: path('missing.key') };
      await withRig(tlsRig(serverWith('server'), missing), async ({ failed }) => {
        const { failure } = await failed();
        expect(failure).toMatchObject({ reason: 'internal', side: 'probe', detail: { code: 'ENOENT' } });
      });
    });
  });

  test('that are no PEM are a fault of ours', async () => {
    await inTemporaryDirectory(async (path) => {
      await writeFile(path('ca.pem'), 'not a certificate');
      await writeFile(path('tls.crt'), 'not a certificate');
      await writeFile(path('tls.key'), 'not a key');
      const wrong = { certFile: path('tls.crt'), keyFile: path('tls.key') };
      await withRig(tlsRig(serverWith('server'), wrong), async ({ failed }) => {
        expect((await failed()).failure.reason).toBe('internal');
      });
    });
  });
});
