import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

/** The real middle boxes, as Debian packages them. */
const PROGRAMS = { nginx: '/usr/sbin/nginx', haproxy: '/usr/sbin/haproxy' } as const;
type ProgramName = keyof typeof PROGRAMS;

/** True, and says so where nobody can overlook it, when the program is missing. */
export function isMissing(name: ProgramName): boolean {
  const missing = !existsSync(PROGRAMS[name]);
  if (missing)
    process.stderr.write(`\n*** ${PROGRAMS[name]} IS MISSING: its tests are SKIPPED (apt-get install ${name})\n\n`);
  return missing;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });

export interface RealProxy {
  readonly url: string;
  close(): Promise<void>;
}

const COMMANDS: Readonly<Record<ProgramName, (folder: string, file: string) => readonly string[]>> = {
  nginx: (folder, file) => ['-p', folder, '-c', file, '-e', 'stderr'],
  haproxy: (_, file) => ['-db', '-f', file],
};

/**
 * Starts `name` with the configuration that `configure` writes for its port and a folder of its own; resolves when it
 * listens. `close` ends the very process that was started and removes the folder.
 */
export async function startProxy(
  name: ProgramName,
  configure: (port: number, folder: string) => string,
): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const port = await freePort();
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, configure(port, folder));
  const child: ChildProcess = spawn(PROGRAMS[name], COMMANDS[name](folder, file), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const hear = (bytes: Buffer): void => {
    said += bytes.toString();
  };
  child.stdout?.on('data', (bytes: Buffer) => hear(bytes));
  child.stderr?.on('data', (bytes: Buffer) => hear(bytes));
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await listens(port)); tries += 1) {
    if (child.exitCode !== null || tries > 400) {
      await close();
      throw new Error(`${name} does not start: ${said}`);
    }
    await sleep(20);
  }
  return { url: `http://127.0.0.1:${port}`, close };
}

/** nginx in front of `upstream` (host:port), with these directives in its location. One process, nothing outside `folder`. */
export const nginxInFrontOf =
  (upstream: string, directives: string) =>
  (port: number, folder: string): string =>
    `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_timeout 1s;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://${upstream};
      ${directives}
    }
  }
}
`;

/** HAProxy in front of `upstream`; `server` are settings of its server line, `defaults` lines of its defaults. */
export const haproxyInFrontOf =
  (upstream: string, { server = '', defaults = '' }: { readonly server?: string; readonly defaults?: string } = {}) =>
  (port: number): string =>
    `
global
  maxconn 64
defaults
  mode http
  retries 0
  timeout connect 500ms
  timeout client 5s
  timeout server 5s
  timeout http-keep-alive 200ms
  ${defaults}
frontend front
  bind 127.0.0.1:${port}
  default_backend engines
backend engines
  server engine ${upstream} ${server}
`;
