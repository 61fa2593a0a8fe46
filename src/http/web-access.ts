import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import { type ConfigFiles, systemFiles } from '../config/files.ts';
import type { Logger } from '../log.ts';
import { seconds } from '../units.ts';
import type { WebAccess } from './access.ts';
import { createBasicAuth } from './auth.ts';
import { createPasswordVerifier } from './bcrypt.ts';
import { createRateLimit } from './rate-limit.ts';
import { createTlsServer, readSecureContext } from './tls.ts';
import { readWebConfig, type WebConfig } from './web-config.ts';

export interface WebAccessDependencies {
  readonly log: Logger;
  readonly clock: Clock;
  readonly files?: ConfigFiles;
}

// Polling sees every way in which files are replaced: in place, by rename, by the ..data swap of a mounted Secret.
const LOOK_EVERY = seconds(5);

/** What is in force: the web configuration and the certificates that it names. */
interface InForce {
  readonly config: WebConfig;
  readonly context: SecureContextOptions | null;
}

function load(path: string, files: ConfigFiles): InForce {
  const config = readWebConfig(path, files);
  return { config, context: config.tls === null ? null : readSecureContext(config.tls, files) };
}

/** A fingerprint of all files that matter; changes when one of them does. */
function fingerprint(path: string, config: WebConfig, files: ConfigFiles): string {
  const tls = config.tls;
  const paths = [path, ...(tls === null ? [] : [tls.certFile, tls.keyFile, tls.clientCaFile ?? ''])];
  const hash = createHash('sha256');
  for (const name of paths.filter((found) => found !== '')) {
    try {
      hash.update(files.read(name));
    } catch {
      hash.update('unreadable');
    }
    hash.update('\0');
  }
  return hash.digest('hex');
}

/**
 * Access by the rules of a web configuration in exporter-toolkit's form. Files that change are taken over while running;
 * a change that cannot be used leaves the old rules in force. Throws CONFIG_INVALID when they are unusable at the start.
 */
export function openWebAccess(path: string, deps: WebAccessDependencies): WebAccess {
  const { log, clock } = deps;
  const files = deps.files ?? systemFiles();
  const verifier = createPasswordVerifier();
  let inForce = load(path, files);
  let seen = fingerprint(path, inForce.config, files);
  let server: HttpsServer | null = null;
  let timer: Timer | null = null;

  function takeOver(next: InForce): void {
    if ((next.config.tls === null) !== (inForce.config.tls === null)) {
      log.warn({ file: path }, 'TLS cannot be switched on or off without a restart');
      return;
    }
    if (next.context !== null) server?.setSecureContext(next.context);
    inForce = next;
    log.info({ file: path }, 'web configuration reloaded');
  }

  function look(): void {
    const now = fingerprint(path, inForce.config, files);
    if (now === seen) return;
    seen = now;
    try {
      takeOver(load(path, files));
      seen = fingerprint(path, inForce.config, files);
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'unknown error';
      log.error({ file: path, detail }, 'web configuration cannot be used; the old one stays in force');
    }
  }

  const arm = (): void => {
    timer = clock.setTimer(LOOK_EVERY, () => {
      look();
      arm();
    });
  };

  return {
    headers: () => inForce.config.headers,
    guards: [
      createRateLimit(() => inForce.config.rateLimit, clock),
      createBasicAuth({ users: () => inForce.config.users, verify: verifier.verify }),
    ],
    createServer(options, listener): Server {
      const { config, context } = inForce;
      if (config.tls === null || context === null) return createServer(options, listener);
      server = createTlsServer(config.tls, context, options, listener);
      return server;
    },
    start: arm,
    async close() {
      timer?.cancel();
      timer = null;
      await verifier.close();
    },
  };
}
