/*
 * Arithmetic of the KV cache. A token keeps a key and a value vector in every layer and for every KV head:
 * 2 x layers x KV heads x head size x bytes of an element. Grouped-query models count KV heads, not attention heads;
 * models that compress their cache (MLA) or slide their window keep less, so for them this is an upper bound.
 */

/** What a token costs is decided by these; from the model's configuration. */
export interface KvGeometry {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Bytes of one element in the cache's own type, not the weights'. */
  readonly bytesPerElement: number;
}

const ELEMENT_BYTES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    float32: 4,
    fp32: 4,
    bfloat16: 2,
    bf16: 2,
    float16: 2,
    fp16: 2,
    half: 2,
    fp8: 1,
    fp8_e4m3: 1,
    fp8_e5m2: 1,
    fp8_inc: 1,
    int8: 1,
    int4: 0.5,
    fp4: 0.5,
  }),
);

/** Bytes of an element by the name of its type as engines write it; null for "auto" and for names not known. */
export const kvElementBytes = (dtype: string): number | null => ELEMENT_BYTES.get(dtype.toLowerCase()) ?? null;

/** Bytes that one token takes in the cache, over all layers (and all tensor-parallel shards together). */
export const kvBytesPerToken = (geometry: KvGeometry): number =>
  2 * geometry.layers * geometry.kvHeads * geometry.headDim * geometry.bytesPerElement;

/** Tokens that fit into `cacheBytes`, whole blocks only. */
export function kvCapacityTokens(cacheBytes: number, geometry: KvGeometry, blockTokens = 1): number {
  const blocks = Math.floor(cacheBytes / (kvBytesPerToken(geometry) * blockTokens));
  return blocks * blockTokens;
}

// A sequence takes whole blocks: its last one is wasted in part.
const blocksOf = (tokens: number, blockTokens: number): number => Math.ceil(tokens / blockTokens);

/**
 * How many sequences of `sequenceTokens` (prompt and answer) are in the cache at once when nothing is shared between
 * them. Beyond that, requests wait or are preempted.
 */
export function sequencesThatFit(capacityTokens: number, sequenceTokens: number, blockTokens = 1): number {
  const perSequence = blocksOf(sequenceTokens, blockTokens);
  return perSequence > 0 ? Math.floor(Math.floor(capacityTokens / blockTokens) / perSequence) : 0;
}

/** Share of the cache, 0..1 and more, that one more request of `sequenceTokens` takes at its end. */
export function shareOfOneMore(capacityTokens: number, sequenceTokens: number, blockTokens = 1): number {
  const blocks = Math.floor(capacityTokens / blockTokens);
  return blocks > 0 ? blocksOf(sequenceTokens, blockTokens) / blocks : Number.POSITIVE_INFINITY;
}
