import type { ServerResponse } from 'node:http';
import type { Timer } from '../clock.ts';
import { type AnswerDeps, ENGINE_ERROR, stallTimer, submitCall } from './answer.ts';
import type { ApiCall } from './api-request.ts';
import type { StallFault } from './fault-types.ts';
import { bufferedOutlet, directOutlet } from './outlet.ts';
import type { SimFinishReason, SimHandle, SimToken } from './types.ts';
import { DONE_EVENT, streamWriter, type WireUsage } from './wire.ts';

/** Tokens that came and were not sent yet. */
interface Pending {
  text: string;
  tokens: number;
  finish: SimFinishReason | null;
}

/**
 * Streams one answer. Tokens that come while nothing may be sent (a stall, or a client that reads too slowly) are
 * merged into the next chunk, as vLLM does.
 */
export function streamAnswer(response: ServerResponse, call: ApiCall, deps: AnswerDeps): void {
  const { faults, clock } = deps;
  const writer = streamWriter(deps.head);
  const outlet = faults.buffer === undefined ? directOutlet(response) : bufferedOutlet(response);
  const pending: Pending = { text: '', tokens: 0, finish: null };
  let sentTokens = 0;
  /** Reasons to wait: a stall, a full socket, or both. */
  let holds = 0;
  let stall = faults.stall ?? null;
  let timer: Timer | null = null;
  let handle: SimHandle | null = null;
  let closed = false;

  const usage = (): WireUsage => ({
    promptTokens: call.promptTokenIds.length,
    completionTokens: sentTokens,
    cachedTokens: deps.promptTokensDetails ? (handle?.cachedTokens() ?? 0) : null,
  });
  const usageSoFar = (): WireUsage | null => (call.continuousUsage ? usage() : null);
  const close = (): void => {
    closed = true;
    timer?.cancel();
    handle?.abort();
  };
  const endWith = (text: string): void => {
    outlet.end(text);
    close();
  };
  const release = (): void => {
    holds -= 1;
    flush();
  };

  const cut = (how: 'end' | 'reset'): void => {
    if (how === 'end') outlet.end('');
    else outlet.reset();
    close();
  };
  const hold = (fault: StallFault): void => {
    holds += 1;
    timer = stallTimer(clock, fault, release);
    stall = null;
  };
  const strikes = (fault: { readonly afterTokens: number }): boolean => sentTokens >= fault.afterTokens;

  /** The faults that strike after a number of tokens. */
  const strike = (): void => {
    const { truncate, error } = faults;
    if (error !== undefined && strikes(error)) endWith(`data: ${ENGINE_ERROR}\n\n${DONE_EVENT}`);
    else if (truncate !== undefined && strikes(truncate)) cut(truncate.how);
    else if (stall !== null && strikes(stall)) hold(stall);
  };

  const due = (): boolean => {
    if (closed || holds > 0) return false;
    return pending.finish !== null || pending.tokens >= (sentTokens === 0 ? 1 : deps.streamInterval);
  };

  const sendPending = (): void => {
    const role = sentTokens === 0 ? (writer.role(usageSoFar()) ?? '') : '';
    sentTokens += pending.tokens;
    const flowing = outlet.write(role + writer.delta(pending.text, pending.finish, usageSoFar()));
    pending.text = '';
    pending.tokens = 0;
    if (flowing) return;
    holds += 1;
    response.once('drain', release);
  };

  const flush = (): void => {
    if (!due()) return;
    sendPending();
    if (pending.finish === null) strike();
    else endWith((call.includeUsage ? writer.usage(usage()) : '') + DONE_EVENT);
  };

  const onToken = (token: SimToken): void => {
    pending.text += token.text;
    pending.tokens += 1;
    pending.finish = token.finishReason;
    flush();
  };
  const onAbort = (): void => {
    pending.finish = 'abort';
    flush();
  };

  response.once('close', close);
  strike();
  if (!closed) handle = submitCall(call, deps, onToken, onAbort);
}
