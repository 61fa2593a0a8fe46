import type { ServerResponse } from 'node:http';
import type { Labels } from './exposition.ts';

/** Counts answers by handler, method and status class, when they end: a stream counts when it is over. */
export interface HttpTally {
  watch(handler: string, method: string, response: ServerResponse): void;
  read(): readonly { readonly labels: Labels; readonly count: number }[];
  clear(): void;
}

export function createHttpTally(): HttpTally {
  const counts = new Map<string, { readonly labels: Labels; count: number }>();
  const add = (labels: Labels): void => {
    const key = JSON.stringify(labels);
    const entry = counts.get(key);
    if (entry === undefined) counts.set(key, { labels, count: 1 });
    else entry.count += 1;
  };
  return {
    watch(handler, method, response) {
      response.once('close', () => add({ handler, method, status: `${Math.floor(response.statusCode / 100)}xx` }));
    },
    read: () => [...counts.values()],
    clear: () => counts.clear(),
  };
}
