import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { RequestHandler } from 'express';

/** Who may talk to the server, and how: TLS, passwords and extra headers from `--web.config.file`. */
export interface WebAccess {
  /** Headers that the web configuration puts on every answer. */
  headers(): Readonly<Record<string, string>>;
  /** What every request goes through, in this order. */
  readonly guards: readonly RequestHandler[];
  createServer(options: ServerOptions, listener: RequestListener): Server;
  /** Watches the files. */
  start(): void;
  close(): Promise<void>;
}

/** Paths that the kubelet asks without a password. They tell nothing but that the process lives. */
export const OPEN_PATHS: ReadonlySet<string> = new Set(['/-/healthy', '/-/ready']);
