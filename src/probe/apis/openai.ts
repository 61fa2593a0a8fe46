import { findError } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { count, isObject, type JsonObject } from '../json-value.ts';
import { readUsage, type Usage } from '../usage.ts';
import type { ApiDialect, Ask } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { sseReading } from './event-reading.ts';

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
  const { refused } = ask;
  const body = {
    model: ask.model,
    ...prompt,
    stream: true,
    ...streamOptions(ask),
    ...tokenLimit(ask),
    ...unlessRefused(refused, 'temperature', ask.temperature),
    ...(ask.ignoreEos ? unlessRefused(refused, 'ignore_eos', true) : {}),
  };
  return mergeBody(body, ask.extraBody);
}

/** The first choice of a chunk; other choices are reported, and null is returned when there is no first. */
function firstChoice(meaning: EventMeaning, choices: readonly unknown[]): JsonObject | null {
  let first: JsonObject | null = null;
  for (const choice of choices) {
    if (!isObject(choice)) meaning.nonconforming(false);
    else if (Number(choice.index ?? 0) === 0) first ??= choice;
    else meaning.foreignChoice();
  }
  return first;
}

/** Reads the generated part of a choice. */
export type DeltaReader = (meaning: EventMeaning, choice: JsonObject) => void;

/** OpenRouter writes what its provider said into the choice that failed. */
function readChoiceError(meaning: EventMeaning, { error }: JsonObject): void {
  if (error === undefined || error === null) return;
  const found = findError({ error });
  if (found !== null) meaning.error(found);
}

/** llama.cpp of late 2025 tells what came from the cache in its timings only. */
function withTimings(usage: Usage | null, timings: unknown): Usage | null {
  if (usage === null || usage.cachedPromptTokens !== null || !isObject(timings)) return usage;
  return { ...usage, cachedPromptTokens: count(timings.cache_n) };
}

function readChunk(meaning: EventMeaning, chunk: JsonObject, readDelta: DeltaReader): void {
  // Groq keeps it in a corner of its own.
  const stated = readUsage(chunk.usage) ?? (isObject(chunk.x_groq) ? readUsage(chunk.x_groq.usage) : null);
  let usage = withTimings(stated, chunk.timings);
  if (Array.isArray(chunk.choices)) {
    const choice = firstChoice(meaning, chunk.choices);
    if (choice !== null) {
      readDelta(meaning, choice);
      readChoiceError(meaning, choice);
      usage ??= readUsage(choice.usage);
      const reason = readFinishReason(choice.finish_reason);
      if (reason !== null) meaning.finish(reason);
    }
  } else if (usage === null) {
    meaning.nonconforming(false);
  }
  if (usage !== null) meaning.usage(usage);
}

/** The reading of the OpenAI stream forms, which differ only in where a choice keeps its text. */
export const openAiReading = (readDelta: DeltaReader): ApiDialect['createReading'] =>
  sseReading(() => (meaning, chunk) => readChunk(meaning, chunk, readDelta));
