import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { type AnswerDeps, ENGINE_ERROR, plainAnswer } from './answer.ts';
import { readCall, type SimApi } from './api-request.ts';
import type { SimulatedEngine } from './engine.ts';
import type { RefuseFault } from './fault-types.ts';
import type { FaultBoard } from './faults.ts';
import type { SimulatorOptions } from './options.ts';
import { mix } from './random.ts';
import { readJson, send, sendError } from './respond.ts';
import { streamAnswer } from './stream-answer.ts';

export interface GeneratorDeps {
  readonly clock: Clock;
  readonly engine: SimulatedEngine;
  readonly faults: FaultBoard;
}

/** The two routes that generate. */
export interface Generator {
  generate(api: SimApi, request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Requests refused with 503 since the start. */
  rejections(): number;
  clear(): void;
}

function refuse(response: ServerResponse, fault: RefuseFault): void {
  if (fault.retryAfterSeconds !== null) response.setHeader('retry-after', String(fault.retryAfterSeconds));
  if (fault.status === 429) sendError(response, 429, 'RateLimitError', 'Too many requests (a fault on demand).');
  else sendError(response, 503, 'ServiceUnavailableError', 'The queue is full (a fault on demand).');
}

export function createGenerator(options: SimulatorOptions, deps: GeneratorDeps): Generator {
  const { clock, faults } = deps;
  const served = { model: options.model, maxModelLen: options.engine.maxModelLen };
  let answers = 0;
  let rejections = 0;

  const nextId = (api: SimApi): string => {
    answers += 1;
    const half = (salt: number): string => mix(mix(options.engine.seed, answers), salt).toString(16).padStart(8, '0');
    return `${api === 'chat' ? 'chatcmpl' : 'cmpl'}-${half(1)}${half(2)}`;
  };

  return {
    async generate(api, request, response) {
      const call = readCall(api, await readJson(request), served);
      // The client may have gone while its request was read; then nothing would free what the engine gives it.
      if (response.destroyed) return;
      const taken = faults.forRequest();
      if (taken.refuse !== undefined) {
        if (taken.refuse.status === 503) rejections += 1;
        refuse(response, taken.refuse);
        return;
      }
      // An answer that is not streamed has no place for an error but its status.
      if (taken.error !== undefined && (taken.error.where === 'http' || !call.stream)) {
        send(response, 500, 'application/json', ENGINE_ERROR);
        return;
      }
      const answer: AnswerDeps = {
        clock,
        engine: deps.engine,
        faults: taken,
        head: {
          api,
          id: nextId(api),
          created: Math.floor(clock.unix()),
          model: options.model,
          fingerprint: `vllm-${options.version}`,
        },
        streamInterval: options.streamInterval,
        promptTokensDetails: options.promptTokensDetails,
      };
      if (call.stream) streamAnswer(response, call, answer);
      else plainAnswer(response, call, answer);
    },
    rejections: () => rejections,
    clear: () => {
      rejections = 0;
    },
  };
}
