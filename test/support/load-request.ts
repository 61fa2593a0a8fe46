import { readLoadRequest } from '../../src/cli/load-request.ts';
import type { LoadRequest } from '../../src/experiment/load-types.ts';
import { silentLogger } from '../../src/log.ts';
import { seconds } from '../../src/units.ts';

/** What the command line would ask of an endpoint, with changes. */
export function loadRequest(url: string, changes: Partial<LoadRequest> = {}): LoadRequest {
  const request = readLoadRequest({ url, metrics: true, seed: '1' }, { environment: {} }, silentLogger());
  return { ...request, drainMaxSeconds: seconds(5), ...changes };
}
