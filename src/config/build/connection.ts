import { resolve } from 'node:path';
import type { ConnectionSettings } from '../../probe/profile.ts';
import { DEFAULTS } from '../defaults.ts';
import { type ConfigFiles, describeReadFailure } from '../files.ts';
import type { KeyPath, Report } from '../report.ts';
import type { RawConnection } from '../schema/target.ts';
import { readProxyUrl } from './url.ts';

type RawTls = NonNullable<RawConnection['tls']>;
type TlsFileKey = 'ca_file' | 'cert_file' | 'key_file';
const TLS_FILE_KEYS = ['ca_file', 'cert_file', 'key_file'] as const satisfies readonly TlsFileKey[];

export interface ConnectionDeps {
  /** Directory that relative paths start from. */
  readonly directory: string;
  readonly files: ConfigFiles;
  readonly report: Report;
}

/** Completes the settings of a connection: the target's own keys, else the shared ones, else defaults. */
export function buildConnection(
  own: { readonly raw: RawConnection; readonly path: KeyPath },
  shared: { readonly raw: RawConnection; readonly path: KeyPath },
  deps: ConnectionDeps,
): ConnectionSettings {
  const tls: RawTls = { ...shared.raw.tls, ...own.raw.tls };
  const file = (key: TlsFileKey): string | null => {
    const written = tls[key];
    return written === undefined ? null : resolve(deps.directory, written);
  };
  const proxy = own.raw.proxy_url ?? shared.raw.proxy_url;
  const proxyAt = own.raw.proxy_url === undefined ? shared.path : own.path;
  return {
    family: own.raw.family ?? shared.raw.family ?? DEFAULTS.connection.family,
    addressAttemptSeconds:
      own.raw.address_attempt ?? shared.raw.address_attempt ?? DEFAULTS.connection.addressAttemptSeconds,
    caFile: file('ca_file'),
    certFile: file('cert_file'),
    keyFile: file('key_file'),
    serverName: tls.server_name ?? null,
    insecureSkipVerify: tls.insecure_skip_verify ?? DEFAULTS.connection.insecureSkipVerify,
    proxyUrl: proxy === undefined ? null : readProxyUrl(proxy, [...proxyAt, 'proxy_url'], deps.report),
  };
}

/** What cannot be right about a target's TLS: half a pair, TLS settings without TLS, files that are not there. */
export function checkTls(
  own: { readonly raw: RawConnection; readonly path: KeyPath },
  built: ConnectionSettings,
  usesTls: boolean,
  deps: ConnectionDeps,
): void {
  const { report } = deps;
  const path = [...own.path, 'tls'];
  if ((built.certFile === null) !== (built.keyFile === null)) {
    const [present, missing] = built.certFile === null ? ['key_file', 'cert_file'] : ['cert_file', 'key_file'];
    report.error([...path, present], `stands without ${missing}: a client certificate needs both`);
  }
  // Shared TLS settings may be there for other targets; what a target says itself must have a use.
  const [stray] = Object.keys(own.raw.tls ?? {});
  if (!usesTls && stray !== undefined) {
    report.error([...path, stray], 'has no effect on an http:// URL: write https:// or remove it', 'key');
  }
  if (built.insecureSkipVerify && usesTls) {
    report.warning(
      [...path, 'insecure_skip_verify'],
      'is on: anybody on the path can pose as the endpoint and read the key',
    );
  }
  for (const key of usesTls ? TLS_FILE_KEYS : []) {
    const file = { ca_file: built.caFile, cert_file: built.certFile, key_file: built.keyFile }[key];
    if (file === null) continue;
    try {
      deps.files.read(file);
    } catch (error) {
      report.warning(
        [...path, key],
        `names ${file}, which ${describeReadFailure(error)}; probes fail until it can be read`,
      );
    }
  }
}
