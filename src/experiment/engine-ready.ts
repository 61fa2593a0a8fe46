import type { Clock } from '../clock.ts';
import { createFetcher } from '../engine/fetch.ts';
import { seconds } from '../units.ts';

/** A model list is no proof of readiness where it is empty: a frontend may still be waiting for its engine. */
function listsModels(body: string): boolean {
  try {
    const { data } = JSON.parse(body) as { readonly data?: unknown };
    return Array.isArray(data) && data.length > 0;
  } catch {
    return false;
  }
}

/**
 * Whether an engine can be used, by its model list: no engine makes tokens to answer that, while SGLang's `/health` does.
 */
export async function listsAModel(url: string, clock: Clock): Promise<boolean> {
  const base = new URL(url);
  const fetcher = createFetcher(
    { origin: base.origin, apiKey: () => null, headers: {}, timeoutSeconds: seconds(3), maxBytes: 1_000_000 },
    { clock },
  );
  try {
    const path = `${base.pathname.replace(/\/(v1)?\/?$/, '')}/v1/models`;
    const answer = await fetcher.text(new URL(path, base));
    // 401: the engine is there; whether the key is right is for the check of the target to say.
    return answer.ok && (answer.status === 401 || (answer.status === 200 && listsModels(answer.body)));
  } finally {
    await fetcher.close();
  }
}
