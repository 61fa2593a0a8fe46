import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import type { Seconds } from '../units.ts';

/** How to verify and to present oneself on TLS connections; the same files as the target's own. */
export interface FetchTls {
  readonly caFile?: string | null;
  readonly certFile?: string | null;
  readonly keyFile?: string | null;
  readonly serverName?: string | null;
  readonly insecureSkipVerify?: boolean;
}

const read = (file: string | null | undefined): string | undefined =>
  file === null || file === undefined ? undefined : readFileSync(file, 'utf8');

/** Connections for reading pages. Throws what the file system throws when a certificate file cannot be read. */
export function createFetchAgent(tls: FetchTls | null, timeoutSeconds: Seconds): Agent {
  const [ca, cert, key] = [read(tls?.caFile), read(tls?.certFile), read(tls?.keyFile)];
  const servername = tls?.serverName ?? undefined;
  return new Agent({
    connections: 2,
    // The deadline is ours: undici's own timers tick twice a second only.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: Math.max(1, timeoutSeconds * 1000),
      rejectUnauthorized: tls?.insecureSkipVerify !== true,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
    },
  });
}
