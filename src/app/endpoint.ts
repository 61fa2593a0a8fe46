import { sleep } from '../clock.ts';
import type { Discovery } from '../engine/types.ts';
import { elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import { type AskDependencies, createAsk } from './ask.ts';
import { combineFacts, type EndpointFacts, isAnswer, sameFacts } from './endpoint-facts.ts';

/** Finds out about one endpoint, again and again until it answers. */
export interface Endpoint {
  /** What is known now; null when nothing is. */
  facts(): EndpointFacts | null;
  /** The first attempt is over, whatever came of it. */
  asked(): boolean;
  start(): void;
  /** Something learnt is in doubt (a model gone), or a first answer came: asks again, but not twice in half a minute. */
  doubt(): void;
  close(): Promise<void>;
}

export interface EndpointDependencies extends AskDependencies {
  /** A probe was good: whatever is still unknown then will hardly be found by asking on. */
  readonly proven: () => boolean;
  /** Called whenever something new is known. */
  readonly onFacts: (facts: EndpointFacts) => void;
}

const FIRST_RETRY = seconds(1);
const LONGEST_RETRY = seconds(30);

/** A model that is not listed may still be served under an alias, so this is a warning and no more; once a model. */
function createModelCheck({ log, target }: EndpointDependencies): (found: Discovery) => void {
  let warnedFor: string | null = null;
  return ({ models }) => {
    const { model } = target();
    if (model === 'auto' || models.length === 0 || models.includes(model) || warnedFor === model) return;
    warnedFor = model;
    log.warn({ model, listed: models.slice(0, 10) }, 'the configured model is not in the list of models');
  };
}

export function createEndpoint(deps: EndpointDependencies): Endpoint {
  const { clock, target } = deps;
  const ask = createAsk(deps);
  const checkModel = createModelCheck(deps);
  const closing = new AbortController();
  let facts: EndpointFacts | null = null;
  let askedAt: MonotonicInstant | null = null;
  let asked = false;
  let doubted = false;
  let wake: AbortController | null = null;
  let running: Promise<void> | null = null;

  const take = (next: EndpointFacts): EndpointFacts => {
    if (sameFacts(facts, next)) return next;
    facts = next;
    deps.onFacts(next);
    return next;
  };

  /** True when there is nothing left to ask for. */
  const attempt = async (): Promise<boolean> => {
    const proven = deps.proven();
    // Those who wait for their first answer go before those who have had none so often.
    const urgent = askedAt === null;
    askedAt = clock.monotonic();
    const found = await ask(urgent, closing.signal);
    if (closing.signal.aborted) return true;
    asked = true;
    if (found !== null) checkModel(found);
    const { model } = take(combineFacts(target(), found, facts));
    return model !== null && (proven || isAnswer(found));
  };

  /** Waits, unless somebody is in doubt already or becomes so meanwhile. */
  const pause = async (delay: Seconds): Promise<void> => {
    const waiting = new AbortController();
    wake = waiting;
    if (!doubted && !closing.signal.aborted) await sleep(clock, delay, waiting.signal);
    wake = null;
  };

  const run = async (): Promise<void> => {
    let delay: Seconds = FIRST_RETRY;
    while (!closing.signal.aborted) {
      doubted = false;
      if (await attempt()) return;
      await pause(delay);
      delay = seconds(Math.min(delay * 2, LONGEST_RETRY));
    }
  };

  const launch = (): void => {
    running ??= run().finally(() => {
      running = null;
    });
  };

  /** An endpoint whose model is not known yet is worth asking at any time. */
  const askedLately = (): boolean =>
    askedAt !== null && facts?.model !== null && elapsed(askedAt, clock.monotonic()) < LONGEST_RETRY;

  return {
    facts: () => facts,
    asked: () => asked,
    start() {
      const { model, api } = target();
      // Nothing has to be found out before the first probe.
      if (model !== 'auto' && api !== 'auto') take(combineFacts(target(), null, null));
      launch();
    },
    doubt() {
      if (running !== null) {
        doubted = true;
        wake?.abort();
      } else if (!askedLately() && !closing.signal.aborted) launch();
    },
    async close() {
      closing.abort();
      wake?.abort();
      await running;
    },
  };
}
