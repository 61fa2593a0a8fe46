import { findError } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { isObject, type JsonObject, parseObject } from '../json-value.ts';
import { readUsage } from '../usage.ts';
import type { Ask } from './api.ts';

/** Engines that send the running total of tokens with each chunk when asked; others may refuse to be asked. */
const CONTINUOUS_USAGE_ENGINES: ReadonlySet<string> = new Set(['vllm', 'sglang']);

export const OPENAI_OPTIONAL_PARAMETERS = [
  'continuous_usage_stats',
  'stream_options',
  'ignore_eos',
  'temperature',
  'max_tokens',
  'max_completion_tokens',
] as const;

export const SSE_TYPES = ['text/event-stream'] as const;

export const bearer = (key: string | null): Readonly<Record<string, string>> =>
  key === null ? {} : { authorization: `Bearer ${key}` };

function streamOptions({ engine, refused }: Ask): Readonly<Record<string, unknown>> {
  if (refused.has('stream_options') || refused.has('include_usage')) return {};
  const continuous =
    engine !== undefined &&
    engine !== null &&
    CONTINUOUS_USAGE_ENGINES.has(engine) &&
    !refused.has('continuous_usage_stats');
  return { stream_options: { include_usage: true, ...(continuous ? { continuous_usage_stats: true } : {}) } };
}

/** The limit is never left out: it is what bounds the cost of a probe. Both names refused: the older one again. */
function tokenLimit({ maxTokens, refused }: Ask): Readonly<Record<string, unknown>> {
  const newer = refused.has('max_tokens') && !refused.has('max_completion_tokens');
  return newer ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
}

/** The parameters that chat, completions and Azure share; the prompt comes from each API. */
export function openAiBody(ask: Ask, prompt: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    model: ask.model,
    ...prompt,
    stream: true,
    ...streamOptions(ask),
    ...tokenLimit(ask),
    ...(ask.refused.has('temperature') ? {} : { temperature: ask.temperature }),
    ...(ask.ignoreEos && !ask.refused.has('ignore_eos') ? { ignore_eos: true } : {}),
    ...ask.extraBody,
  };
}

const DONE = /^\s*\[DONE\]\s*$/;

/** `[DONE]`, with whatever blanks around it. */
export const isDone = (data: string): boolean => data === '[DONE]' || (data.length < 64 && DONE.test(data));

/** The first choice of a chunk; other choices are reported, and null is returned when there is no first. */
function firstChoice(meaning: EventMeaning, choices: readonly unknown[]): JsonObject | null {
  let first: JsonObject | null = null;
  for (const choice of choices) {
    if (!isObject(choice)) meaning.nonconforming(false);
    else if (choice.index === undefined || choice.index === null || choice.index === 0) first ??= choice;
    else meaning.foreignChoice();
  }
  return first;
}

function readChunk(meaning: EventMeaning, chunk: JsonObject, readDelta: DeltaReader): void {
  const error = findError(chunk);
  if (error !== null) {
    meaning.error(error);
    return;
  }
  let usage = readUsage(chunk.usage);
  if (Array.isArray(chunk.choices)) {
    const choice = firstChoice(meaning, chunk.choices);
    if (choice !== null) {
      readDelta(meaning, choice);
      usage ??= readUsage(choice.usage);
      const reason = readFinishReason(choice.finish_reason);
      if (reason !== null) meaning.finish(reason);
    }
  } else if (usage === null) {
    meaning.nonconforming(false);
  }
  if (usage !== null) meaning.usage(usage);
}

/** Reads the generated part of a choice. */
export type DeltaReader = (meaning: EventMeaning, choice: JsonObject) => void;

/** The interpreter of the OpenAI stream forms, which differ only in where a choice keeps its text. */
export function openAiInterpreter(readDelta: DeltaReader): (meaning: EventMeaning, data: string) => void {
  return (meaning, data) => {
    if (isDone(data)) {
      meaning.done();
      return;
    }
    const chunk = parseObject(data);
    if (chunk === null) meaning.nonconforming(true);
    else readChunk(meaning, chunk, readDelta);
  };
}
