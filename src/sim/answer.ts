import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../clock.ts';
import type { ApiCall } from './api-request.ts';
import type { SimulatedEngine } from './engine.ts';
import type { StallFault } from './fault-types.ts';
import type { RequestFaults } from './faults.ts';
import type { SimFinishReason, SimHandle, SimToken } from './types.ts';
import { type AnswerHead, errorBody, wholeAnswer } from './wire.ts';

export interface AnswerDeps {
  readonly clock: Clock;
  readonly engine: SimulatedEngine;
  readonly head: AnswerHead;
  readonly faults: RequestFaults;
  readonly streamInterval: number;
  readonly promptTokensDetails: boolean;
}

export const ENGINE_ERROR = errorBody(
  500,
  'InternalServerError',
  'The simulated engine met an internal error (a fault on demand).',
  null,
);

/** Hands the call to the engine; `onAbort` when the engine ends it by itself. */
export function submitCall(
  call: ApiCall,
  deps: AnswerDeps,
  onToken: (token: SimToken) => void,
  onAbort: () => void,
): SimHandle {
  const said = deps.faults.degenerate?.text;
  return deps.engine.submit(call, {
    // A degenerate model still ends its answer properly.
    onToken: (token) => onToken(said !== undefined && token.text !== '' ? { ...token, text: said } : token),
    onEnd: (result) => {
      if (result.finishReason === 'abort') onAbort();
    },
  });
}

/** Calls `resume` when the stall is over; never for one without end. */
export function stallTimer(clock: Clock, fault: StallFault, resume: () => void): Timer | null {
  return fault.stallSeconds === null ? null : clock.setTimer(fault.stallSeconds, resume);
}

function sendWhole(response: ServerResponse, body: string, faults: RequestFaults): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  if (faults.truncate === undefined) return void response.end(body);
  const half = body.slice(0, Math.floor(body.length / 2));
  // Without a content length a body that simply ends is a whole response to HTTP, and half a document.
  if (faults.truncate.how === 'end') response.end(half);
  else response.write(half, () => response.destroy());
}

/** Answers in one JSON document when the last token is there. */
export function plainAnswer(response: ServerResponse, call: ApiCall, deps: AnswerDeps): void {
  const { faults, clock } = deps;
  let text = '';
  let completionTokens = 0;
  let timer: Timer | null = null;

  const send = (finishReason: SimFinishReason): void => {
    const cachedTokens = deps.promptTokensDetails ? (handle.cachedTokens() ?? 0) : null;
    const usage = { promptTokens: call.promptTokenIds.length, completionTokens, cachedTokens };
    sendWhole(response, wholeAnswer(deps.head, text, finishReason, usage), faults);
  };
  const done = (finishReason: SimFinishReason): void => {
    if (faults.stall === undefined) send(finishReason);
    else timer = stallTimer(clock, faults.stall, () => send(finishReason));
  };
  const onToken = (token: SimToken): void => {
    text += token.text;
    completionTokens += 1;
    if (token.finishReason !== null) done(token.finishReason);
  };

  const handle = submitCall(call, deps, onToken, () => done('abort'));
  response.once('close', () => {
    timer?.cancel();
    handle.abort();
  });
}
