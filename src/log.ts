import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['json', 'logfmt'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Fields of a log line. Only plain values: never a request, response or error object, whose properties may hold secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | object>>;

/** Structured logs: a message that never changes, and the values in fields. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Defaults to standard error, so that standard output stays free for `once --json` and the like. */
  readonly destination?: DestinationStream;
}

const QUOTED = /[\s"=\\]/;

function logfmtValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
  return text === '' || QUOTED.test(text) ? JSON.stringify(text) : text;
}

/** Rewrites pino's JSON lines as logfmt, the form of Prometheus's own programs. */
function logfmtStream(destination: DestinationStream): DestinationStream {
  return {
    write(line: string): void {
      const fields = JSON.parse(line) as Record<string, unknown>;
      const pairs = Object.entries(fields).map(([key, value]) => `${key}=${logfmtValue(value)}`);
      destination.write(`${pairs.join(' ')}\n`);
    },
  };
}

const wrap = (logger: PinoLogger): Logger => ({
  debug: (fields, message) => logger.debug(fields, message),
  info: (fields, message) => logger.info(fields, message),
  warn: (fields, message) => logger.warn(fields, message),
  error: (fields, message) => logger.error(fields, message),
  child: (fields) => wrap(logger.child(fields)),
});

/** Lines that could not be written are kept up to this many bytes, for when the disk has room again. */
const LOG_BACKLOG_BYTES = 1_048_576;

/** Standard error. A full disk or a reader that has gone costs lines, never the process. */
function standardError(): DestinationStream {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: LOG_BACKLOG_BYTES });
  destination.on('error', () => {});
  return destination;
}

/**
 * The program's logger. Writes synchronously: at a few lines a minute that costs nothing, and no line is lost when
 * the process is killed.
 */
export function createLogger(options: LogOptions): Logger {
  const destination = options.destination ?? standardError();
  const logger = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'msg',
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    options.format === 'logfmt' ? logfmtStream(destination) : destination,
  );
  return wrap(logger);
}

/** A logger that says nothing: for `once`, and for tests that look elsewhere. */
export function silentLogger(): Logger {
  const nothing = (): void => {};
  const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  return logger;
}
