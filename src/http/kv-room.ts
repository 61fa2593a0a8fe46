import type { KvCacheSettings, TargetConfig } from '../config/types.ts';
import { kvCapacityTokens, sequencesThatFit, shareOfOneMore } from '../engine/kv.ts';
import type { EngineView } from '../engine/types.ts';

/** What the KV cache of a target holds, in requests of the length of its own probes. */
export interface KvRoom {
  readonly capacityTokens: number;
  /** Prompt and answer of the longest profile. */
  readonly requestTokens: number;
  /** Such requests that are in the cache at once when nothing is shared between them. */
  readonly requestsThatFit: number;
  /** Share of the cache that one more of them takes at its end. */
  readonly shareOfOneMore: number;
}

function configuredTokens(kv: KvCacheSettings | null): number | null {
  if (kv === null || kv.capacityTokens !== null) return kv?.capacityTokens ?? null;
  const { memoryBytes, layers, kvHeads, headDim, dtypeBytes } = kv;
  if (memoryBytes === null || layers === null || kvHeads === null || headDim === null || dtypeBytes === null)
    return null;
  return kvCapacityTokens(memoryBytes, { layers, kvHeads, headDim, bytesPerElement: dtypeBytes });
}

function toldTokens(view: EngineView | undefined): number | null {
  const told = (view?.series ?? []).map(({ kvCapacityTokens: tokens }) => tokens).filter((tokens) => tokens !== null);
  return told.length === 0 ? null : told.reduce((a, b) => a + b, 0);
}

/** From what the engine says, else from the configured shape of the model; null when neither tells. */
export function kvRoom(target: TargetConfig, view: EngineView | undefined): KvRoom | null {
  const capacityTokens = toldTokens(view) ?? configuredTokens(target.kvCache);
  const requestTokens = Math.max(0, ...target.profiles.map(({ profile }) => profile.promptTokens + profile.maxTokens));
  if (capacityTokens === null || capacityTokens <= 0 || requestTokens === 0) return null;
  const block = Number(view?.cacheConfig.block_size);
  const blockTokens = Number.isInteger(block) && block > 0 && block < capacityTokens ? block : 1;
  return {
    capacityTokens,
    requestTokens,
    requestsThatFit: sequencesThatFit(capacityTokens, requestTokens, blockTokens),
    shareOfOneMore: shareOfOneMore(capacityTokens, requestTokens, blockTokens),
  };
}
