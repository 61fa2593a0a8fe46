import type { Dialect } from './dialect.ts';
import { vllm } from './vllm.ts';

/** Every dialect, most telling first: a page is read by the first one that finds its families on it. */
export const DIALECTS: readonly Dialect[] = [vllm];
