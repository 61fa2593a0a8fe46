import { type Distribution, distribution } from './statistics.ts';

/** What a client of the bench reports, ours and the others alike. Nanoseconds of CLOCK_MONOTONIC as strings. */
export interface ClientResult {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly failed: number;
  readonly streams: readonly { readonly id: string; readonly arrivals: readonly string[] }[];
}

/** What the scripted server stamped, by request id. */
export type ServerStamps = Readonly<Record<string, { readonly received: string; readonly sent: readonly string[] }>>;

export interface Accuracy {
  readonly streams: number;
  readonly events: number;
  /** Client's stamp of the first token minus the server's, milliseconds. */
  readonly firstTokenMs: Distribution;
  /** The same for every token. */
  readonly tokenMs: Distribution;
  /** Absolute difference between a gap as the client and as the server had it, milliseconds. */
  readonly gapMs: Distribution;
  /** Processor time of the client's process for one event, microseconds. */
  readonly cpuMicrosecondsPerEvent: number;
  readonly cpuShare: number;
  /** Streams whose tokens the client did not see one by one; their later tokens are left out of the comparison. */
  readonly merged: number;
}

const milliseconds = (from: string, to: string): number => Number(BigInt(to) - BigInt(from)) / 1e6;

function gaps(stamps: readonly string[]): number[] {
  return stamps.slice(1).map((stamp, index) => milliseconds(stamps[index] ?? stamp, stamp));
}

/** Compares the client's stamps with the server's. Throws when there is nothing to compare. */
export function compareStamps(client: ClientResult, server: ServerStamps): Accuracy {
  const first: number[] = [];
  const all: number[] = [];
  const gapErrors: number[] = [];
  let merged = 0;
  let events = 0;
  for (const { id, arrivals } of client.streams) {
    const sent = server[id]?.sent;
    const [arrived, stamped] = [arrivals[0], sent?.[0]];
    if (sent === undefined || arrived === undefined || stamped === undefined) continue;
    events += sent.length;
    first.push(milliseconds(stamped, arrived));
    if (sent.length !== arrivals.length) {
      merged += 1;
      continue;
    }
    all.push(...arrivals.map((stamp, index) => milliseconds(sent[index] ?? stamp, stamp)));
    const truth = gaps(sent);
    gapErrors.push(...gaps(arrivals).map((gap, index) => Math.abs(gap - (truth[index] ?? gap))));
  }
  if (first.length === 0) throw new Error('no stream of the client is known to the server');
  return {
    streams: first.length,
    events,
    firstTokenMs: distribution(first),
    tokenMs: distribution(all),
    gapMs: distribution(gapErrors),
    cpuMicrosecondsPerEvent: (client.cpuSeconds / events) * 1e6,
    cpuShare: client.cpuSeconds / client.wallSeconds,
    merged,
  };
}
