/** Asks a simulated engine for a fault; see docs/simulator.md. */
export async function fault(url: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await fetch(`${url}/sim/fault`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`fault ${JSON.stringify(body)}: ${response.status} ${await response.text()}`);
}

/** Keeps `streams` long answers running until stopped: more KV than a small engine has. */
export function flood(url: string, model: string, streams: number): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const one = async (index: number): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      const prompt = `flood ${index} ${round} ${'word '.repeat(150)}`;
      const body = JSON.stringify({ model, prompt, max_tokens: 150, ignore_eos: true, stream: true });
      try {
        const response = await fetch(`${url}/v1/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          signal: stopping.signal,
        });
        for await (const _ of response.body ?? []) if (stopping.signal.aborted) break;
      } catch {
        // The engine may drop it, and stopping aborts it: both are wanted here.
      }
    }
  };
  const running = Promise.all(Array.from({ length: streams }, (_, index) => one(index)));
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
