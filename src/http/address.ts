import { ProbeExporterError } from '../errors.ts';

export interface ListenAddress {
  /** Undefined: all addresses, IPv6 and IPv4. */
  readonly host: string | undefined;
  readonly port: number;
}

const FORM = /^(?:\[(?<v6>[0-9a-fA-F:.%\w]+)\]|(?<host>[^:[\]]*)):(?<port>\d{1,5})$/;

/** Reads "host:port", ":port" or "[v6]:port". Throws CONFIG_INVALID for anything else. */
export function parseListenAddress(text: string): ListenAddress {
  const { v6, host, port } = FORM.exec(text)?.groups ?? {};
  const number = Number(port);
  if (port === undefined || number > 65_535) {
    throw new ProbeExporterError(
      'CONFIG_INVALID',
      `web.listen_address: "${text}" is not an address; write host:port, :port or [v6]:port`,
    );
  }
  const name = v6 ?? host ?? '';
  return { host: name === '' ? undefined : name, port: number };
}
