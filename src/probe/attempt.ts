import type { Clock } from '../clock.ts';
import type { ApiDialect, ReadingLimits } from './apis/api.ts';
import { type ExchangeFacts, runExchange } from './exchange.ts';
import { checkEmptiness, checkExpectation } from './expectation.ts';
import { failure } from './failure.ts';
import { judge } from './judge.ts';
import type { Failure } from './outcome.ts';
import type { ProbeProfile, ProbeTarget } from './profile.ts';
import type { PromptSource } from './prompt.ts';
import type { StreamErrorObject } from './reading.ts';
import type { Refusals } from './refusals.ts';
import { buildAsk, buildRequest, type RequestFrame } from './request.ts';
import type { StopSignal } from './stop.ts';
import type { Transport } from './transport-types.ts';

/** What one prober keeps from probe to probe. */
export interface Standing {
  readonly target: ProbeTarget;
  readonly profile: ProbeProfile;
  readonly dialect: ApiDialect;
  readonly prompts: PromptSource;
  readonly refusals: Refusals;
  readonly transport: Transport;
  readonly limits: ReadingLimits;
  /** What all requests have in common. Made when it is first needed: it throws when the target cannot be asked. */
  frame(): RequestFrame;
  /** A request parameter was refused for the first time. */
  refused(parameter: string): void;
}

export interface Attempt {
  readonly facts: ExchangeFacts;
  /** Null: good, or aborted. */
  readonly failure: Failure | null;
}

function learn({ refusals, refused }: Standing, { status }: ExchangeFacts, error: StreamErrorObject | null): void {
  // Inside a stream the error object has the status.
  const effective = status !== null && status >= 300 ? status : (error?.status ?? 0);
  const parameter = refusals.learn(effective, error);
  if (parameter !== null) refused(parameter);
}

/**
 * One probe: asks, sends, judges, learns. Throws only for a fault of our own before anything is sent, such as a key that
 * cannot be read.
 */
export async function attempt(
  standing: Standing,
  { id, traceparent, prompt }: { readonly id: string; readonly traceparent: boolean; readonly prompt: string | null },
  clock: Clock,
  signal: StopSignal,
): Promise<Attempt> {
  const { target, profile, dialect, prompts, transport, limits } = standing;
  const { deadlines } = profile;
  const body = dialect.body(buildAsk(target, profile, prompt ?? prompts.next(), standing.refusals.refused()));
  const frame = standing.frame();
  const request = buildRequest({ frame, target, dialect, body, id, traceparent });
  const facts = await runExchange({ request, dialect, deadlines, limits }, { transport, clock }, signal);
  if (facts.ending.kind === 'aborted') return { facts, failure: null };

  const { place } = frame;
  const verdict = judge(facts, { place, dialect, deadlines, parameters: Object.keys(body) });
  learn(standing, facts, verdict.error);
  const { result } = facts;
  if (result === null) return { facts, failure: verdict.failure };
  const unseen = verdict.failure?.reason === 'no_visible_output';
  if (verdict.failure !== null && !unseen) return { facts, failure: verdict.failure };

  if (!unseen && result.promptTokens !== null && prompt === null) prompts.observe(result.promptTokens);
  const unexpected = unseen ? checkEmptiness(profile.expect, result) : checkExpectation(profile.expect, result);
  if (unexpected === null) return { facts, failure: verdict.failure };
  return { facts, failure: failure(unexpected.reason, place, unexpected.message, unexpected.detail) };
}
