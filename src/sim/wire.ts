import type { SimApi } from './api-request.ts';
import type { SimFinishReason } from './types.ts';

/** Token counts of an answer, so far or in all. */
export interface WireUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Null: the server was not told to give details. */
  readonly cachedTokens: number | null;
}

/** What all parts of one answer have in common. */
export interface AnswerHead {
  readonly api: SimApi;
  readonly id: string;
  /** Unix time in whole seconds. */
  readonly created: number;
  readonly model: string;
  readonly fingerprint: string;
}

/** Events of one streamed answer, each a whole `data:` line with its blank line. */
export interface StreamWriter {
  /** The role, which vLLM sends together with the first token; null for completions, which have none. */
  role(usage: WireUsage | null): string | null;
  /** A piece of the answer; `usage` where the client wants it in each chunk. */
  delta(text: string, finishReason: SimFinishReason | null, usage: WireUsage | null): string;
  usage(usage: WireUsage): string;
}

export const DONE_EVENT = 'data: [DONE]\n\n';

const counts = (usage: WireUsage): string =>
  `"prompt_tokens":${usage.promptTokens},"total_tokens":${usage.promptTokens + usage.completionTokens},"completion_tokens":${usage.completionTokens}`;

const details = (usage: WireUsage): string =>
  usage.cachedTokens === null ? '' : `,"prompt_tokens_details":{"cached_tokens":${usage.cachedTokens}}`;

/** Written by hand, not by `JSON.stringify` of an object: a busy simulator sends thousands of these a second. */
export function streamWriter(head: AnswerHead): StreamWriter {
  const chat = head.api === 'chat';
  const object = chat ? 'chat.completion.chunk' : 'text_completion';
  const opening = `data: {"id":${JSON.stringify(head.id)},"object":"${object}","created":${head.created},"model":${JSON.stringify(head.model)},"choices":[`;
  const running = (usage: WireUsage | null): string =>
    usage === null ? '' : `,"usage":{${counts(usage)}${chat ? ',"completion_tokens_details":null' : ''}}`;
  const reason = (finish: SimFinishReason | null): string => (finish === null ? 'null' : `"${finish}"`);
  return {
    role: (usage) =>
      chat
        ? `${opening}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]${running(usage)},"prompt_token_ids":null,"prompt_text":null}\n\n`
        : null,
    delta: (text, finish, usage) => {
      const quoted = JSON.stringify(text);
      if (!chat) {
        return `${opening}{"index":0,"text":${quoted},"logprobs":null,"finish_reason":${reason(finish)},"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]${running(usage)}}\n\n`;
      }
      const stop = finish === null ? '' : '"stop_reason":null,';
      return `${opening}{"index":0,"delta":{"content":${quoted}},"logprobs":null,"finish_reason":${reason(finish)},${stop}"token_ids":null}]${running(usage)}}\n\n`;
    },
    usage: (usage) =>
      `${opening}],"usage":{${counts(usage)}${details(usage)}},"system_fingerprint":${JSON.stringify(head.fingerprint)}}\n\n`,
  };
}

/** The whole answer as one JSON document. */
export function wholeAnswer(head: AnswerHead, text: string, finishReason: SimFinishReason, usage: WireUsage): string {
  const chat = head.api === 'chat';
  const common = { logprobs: null, finish_reason: finishReason, stop_reason: null, token_ids: null };
  const choice = chat
    ? { index: 0, message: { role: 'assistant', content: text, refusal: null, reasoning: null }, ...common }
    : { index: 0, text, ...common, prompt_logprobs: null };
  return JSON.stringify({
    id: head.id,
    object: chat ? 'chat.completion' : 'text_completion',
    created: head.created,
    model: head.model,
    choices: [choice],
    service_tier: null,
    system_fingerprint: head.fingerprint,
    usage: {
      prompt_tokens: usage.promptTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      completion_tokens: usage.completionTokens,
      prompt_tokens_details: usage.cachedTokens === null ? null : { cached_tokens: usage.cachedTokens },
      completion_tokens_details: null,
    },
  });
}

/** vLLM's error object, nested since 0.10. */
export function errorBody(status: number, type: string, message: string, param: string | null): string {
  return JSON.stringify({ error: { message, type, param, code: status } });
}
