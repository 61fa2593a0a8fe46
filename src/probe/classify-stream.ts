import { type FailureDetail, failure } from './failure.ts';
import type { Failure } from './outcome.ts';
import type { ReadingResult } from './reading.ts';

/** The stream was too large, or not what it claims to be. Null otherwise. */
export function classifyFault(place: string, { fault }: ReadingResult): Failure | null {
  if (fault === 'event_too_large') return failure('response_too_large', place, 'one event exceeds its limit');
  if (fault === 'stream_too_large') return failure('response_too_large', place, 'the response exceeds its limit');
  if (fault === 'not_a_stream') return failure('protocol_error', place, 'what came is no stream of events');
  return null;
}

const hasTokens = (result: ReadingResult): boolean => result.tokenChunks > 0;
/** Generation is proven although nothing of it was sent: hidden reasoning, or tokens that make no character. */
const generated = (result: ReadingResult): boolean =>
  (result.outputTokens ?? 0) > 0 || (result.reasoningTokens ?? 0) > 0 || result.finishReason === 'length';

function classifyTokenless(place: string, result: ReadingResult, detail: FailureDetail): Failure {
  if (result.foreignForm === 'complete_answer') {
    return failure('not_streaming', place, 'one complete answer in an event instead of a stream', detail);
  }
  if (result.foreignForm === 'other_api') {
    return failure('protocol_error', place, 'the stream holds no event of this API', detail);
  }
  if (result.terminal && generated(result)) {
    return failure('no_visible_output', place, 'tokens were generated, none of them visible', detail);
  }
  return failure('empty_stream', place, 'the stream ended without a token', detail);
}

/**
 * A stream that ended in good order, or went on after its terminal marker. Null: complete. First what the engine itself
 * says of the end, then whether there was a token, then whether there was an end at all.
 */
export function classifyEnd(place: string, result: ReadingResult): Failure | null {
  const { finishReason } = result;
  const detail: FailureDetail = {
    tokens: result.outputTokens ?? 0,
    ...(finishReason && { finish_reason: finishReason }),
  };
  if (finishReason === 'abort' || finishReason === 'error') {
    return failure('engine_abort', place, `the engine ended the request (finish_reason ${finishReason})`, detail);
  }
  if (finishReason === 'content_filter') {
    return failure('content_filtered', place, 'a content filter ended the answer', detail);
  }
  if (!hasTokens(result)) return classifyTokenless(place, result, detail);
  if (result.terminal) return null;
  const cut = result.fault === 'cut_event' ? ' in the middle of an event' : '';
  return failure('truncated', place, `the stream ended${cut} without finish_reason or end marker`, {
    ...detail,
    cut: cut !== '',
  });
}
