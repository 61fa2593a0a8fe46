import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../config/document.ts';
import { type ConfigFiles, describeReadFailure } from '../config/files.ts';
import { parseDuration } from '../config/quantities.ts';
import { ConfigurationError, createReport } from '../config/report.ts';

/** Headers that exporter-toolkit lets a web configuration set; any other would be a surprise. */
const HEADER_NAMES = [
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'X-XSS-Protection',
  'Content-Security-Policy',
] as const;

const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];

const TLS_VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;
const versionName = z.enum(Object.keys(TLS_VERSIONS) as (keyof typeof TLS_VERSIONS)[]);

/** The suites that exporter-toolkit offers for TLS 1.2, and what OpenSSL calls them. */
const CIPHER_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
} as const;
const CURVES = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

const keysOf = <T extends object>(table: T) =>
  z.enum(Object.keys(table) as [keyof T & string, ...(keyof T & string)[]]);
const file = z.string().min(1, 'must name a file');
const header = z.string().regex(/^[\t\x20-\x7e]*$/, 'may hold printable ASCII only');

const tlsSchema = z.strictObject({
  cert_file: file,
  key_file: file,
  client_auth_type: z.enum(CLIENT_AUTH_TYPES).default('NoClientCert'),
  client_ca_file: file.optional(),
  client_allowed_sans: z.array(z.string()).default([]),
  min_version: versionName.default('TLS12'),
  max_version: versionName.default('TLS13'),
  cipher_suites: z.array(keysOf(CIPHER_SUITES)).default([]),
  curve_preferences: z.array(keysOf(CURVES)).default([]),
  // TLS libraries have stopped giving servers this choice; accepted so that shared files load.
  prefer_server_cipher_suites: z.boolean().optional(),
});

const schema = z.strictObject({
  tls_server_config: tlsSchema.optional(),
  http_server_config: z
    .strictObject({
      // Scrapes gain nothing from it, and it is never offered; accepted so that shared files load.
      http2: z.boolean().optional(),
      headers: z.partialRecord(z.enum(HEADER_NAMES), header).default({}),
    })
    .optional(),
  basic_auth_users: z
    .record(
      z.string().min(1),
      z
        .string()
        .regex(
          /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/,
          'must be a bcrypt hash; make one with: htpasswd -nBC 10 "" | tr -d ":\\n"',
        ),
    )
    .default({}),
  rate_limit: z
    .strictObject({
      interval: z.string().refine((text) => (parseDuration(text) ?? 0) > 0, 'must be a duration such as 1s'),
      burst: z.int().min(1),
    })
    .optional(),
});

export interface WebTlsSettings {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | null;
  readonly clientAuth: ClientAuthType;
  /** Names of which a client's certificate must have one; empty: any. */
  readonly allowedSans: readonly string[];
  readonly minVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's names, joined by colons; null: Node's defaults. */
  readonly ciphers: string | null;
  readonly curves: string | null;
}

/** `--web.config.file`, checked. */
export interface WebConfig {
  readonly tls: WebTlsSettings | null;
  readonly headers: Readonly<Record<string, string>>;
  /** User name to bcrypt hash. Empty: no password is asked for. */
  readonly users: ReadonlyMap<string, string>;
  /** One request every `everySeconds`, `burst` at once; null: not limited. */
  readonly rateLimit: { readonly everySeconds: number; readonly burst: number } | null;
}

function toTls(tls: z.infer<typeof tlsSchema>, directory: string): WebTlsSettings {
  const list = (names: readonly string[]): string | null => (names.length === 0 ? null : names.join(':'));
  return {
    certFile: resolve(directory, tls.cert_file),
    keyFile: resolve(directory, tls.key_file),
    clientCaFile: tls.client_ca_file === undefined ? null : resolve(directory, tls.client_ca_file),
    clientAuth: tls.client_auth_type,
    allowedSans: tls.client_allowed_sans,
    minVersion: TLS_VERSIONS[tls.min_version],
    maxVersion: TLS_VERSIONS[tls.max_version],
    ciphers: list(tls.cipher_suites.map((name) => CIPHER_SUITES[name])),
    curves: list(tls.curve_preferences.map((name) => CURVES[name])),
  };
}

const VERIFIES: readonly ClientAuthType[] = ['VerifyClientCertIfGiven', 'RequireAndVerifyClientCert'];

/** A file of nothing but comments asks for nothing: as in exporter-toolkit, that is a valid one. */
const isBlank = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .every((line) => /^\s*(#.*)?$/.test(line) || line.trim() === '{}');

/** Checks the bytes of a web configuration. Throws ConfigurationError (CONFIG_INVALID) with every issue and its place. */
function parseWebConfig(path: string, bytes: Uint8Array): WebConfig {
  if (isBlank(bytes)) return { tls: null, headers: {}, users: new Map(), rateLimit: null };
  const document = readDocument(path, bytes);
  const report = createReport(document.places);
  for (const issue of document.issues) report.add(issue);
  if (report.failed()) throw new ConfigurationError(path, report.issues());
  const parsed = schema.safeParse(document.value);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
      const place = issue.path as (string | number)[];
      for (const key of keys) report.error([...place, key], 'is not a key of a web configuration', 'key');
      if (keys.length === 0) report.error(place, issue.message);
    }
    throw new ConfigurationError(path, report.issues());
  }
  const { tls_server_config: tls, http_server_config: http, basic_auth_users, rate_limit } = parsed.data;
  if (tls !== undefined && VERIFIES.includes(tls.client_auth_type) && tls.client_ca_file === undefined) {
    report.error(['tls_server_config', 'client_auth_type'], 'needs client_ca_file, the authority of the clients');
    throw new ConfigurationError(path, report.issues());
  }
  return {
    tls: tls === undefined ? null : toTls(tls, dirname(resolve(path))),
    headers: http?.headers ?? {},
    users: new Map(Object.entries(basic_auth_users)),
    rateLimit:
      rate_limit === undefined
        ? null
        : { everySeconds: parseDuration(rate_limit.interval) ?? 1, burst: rate_limit.burst },
  };
}

/** Reads and checks a web configuration. Throws ConfigurationError (CONFIG_INVALID). */
export function readWebConfig(path: string, files: ConfigFiles): WebConfig {
  let bytes: Uint8Array;
  try {
    bytes = files.read(path);
  } catch (cause) {
    const message = `${describeReadFailure(cause)}; give its path with --web.config.file`;
    throw new ConfigurationError(path, [{ severity: 'error', place: path, key: '', message }], { cause });
  }
  return parseWebConfig(path, bytes);
}
