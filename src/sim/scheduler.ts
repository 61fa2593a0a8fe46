import { ProbeExporterError } from '../errors.ts';
import type { BlockPool } from './blocks.ts';
import type { StepWork } from './cost.ts';
import { knownTokens, type Sequence } from './sequence.ts';

export interface SchedulerOptions {
  readonly maxNumSeqs: number;
  /** Tokens a step may compute, prompt chunks and decode tokens together. */
  readonly tokenBudget: number;
  readonly chunkedPrefill: boolean;
  readonly blockSize: number;
}

/** The work of one step, decided before it starts. */
export interface StepPlan {
  /** Sequences with `scheduled` > 0, in the order of their admission. */
  readonly entries: readonly Sequence[];
  readonly preempted: readonly Sequence[];
  /** Sequences that left the queue in this step, preempted ones that came back included. */
  readonly admitted: readonly Sequence[];
  readonly work: StepWork;
}

/**
 * Continuous batching, first come first served. Running sequences come first, in order of arrival; when blocks run out
 * the latest of them is preempted: its blocks are freed, it goes to the head of the queue and computes everything again.
 * Then the queue is admitted from its head while sequences, tokens and blocks allow; the head is never passed over.
 */
export interface Scheduler {
  /** To the tail of the queue. */
  add(sequence: Sequence): void;
  /** Out of queue or batch, its blocks freed. */
  remove(sequence: Sequence): void;
  plan(): StepPlan;
  /** Forgets all sequences and everything in the cache. */
  clear(): void;
  readonly running: readonly Sequence[];
  readonly waiting: readonly Sequence[];
}

interface Draft {
  readonly entries: Sequence[];
  readonly preempted: Sequence[];
  readonly admitted: Sequence[];
  tokensLeft: number;
}

export function createScheduler(options: SchedulerOptions, pool: BlockPool): Scheduler {
  const { blockSize, chunkedPrefill, maxNumSeqs, tokenBudget } = options;
  const running: Sequence[] = [];
  const waiting: Sequence[] = [];
  const blocksFor = (tokens: number): number => Math.ceil(tokens / blockSize);

  const nameFullBlocks = (sequence: Sequence): void => {
    const full = Math.floor((sequence.computed + sequence.scheduled) / blockSize);
    for (; sequence.named < full; sequence.named += 1) {
      const block = sequence.blocks[sequence.named];
      if (block !== undefined) pool.remember(block, sequence.keyOf(sequence.named));
    }
  };

  const give = (sequence: Sequence, tokens: number, fresh: readonly number[], draft: Draft): void => {
    for (const block of fresh) sequence.blocks.push(block);
    sequence.scheduled = tokens;
    draft.tokensLeft -= tokens;
    draft.entries.push(sequence);
    // Named when scheduled: a request that starts in the same step may share them, since they are written before read.
    nameFullBlocks(sequence);
  };

  const letGo = (sequence: Sequence): void => {
    pool.release(sequence.blocks);
    sequence.blocks = [];
    sequence.named = 0;
    sequence.computed = 0;
    sequence.scheduled = 0;
    sequence.running = false;
  };

  const preemptLatest = (draft: Draft): Sequence => {
    const victim = running.pop();
    if (victim === undefined) throw new ProbeExporterError('INVARIANT', 'simulated scheduler: nobody left to preempt');
    letGo(victim);
    victim.preemptions += 1;
    waiting.unshift(victim);
    draft.preempted.push(victim);
    return victim;
  };

  /** False when the sequence itself had to go. */
  const continueRunning = (sequence: Sequence, draft: Draft): boolean => {
    const tokens = Math.min(knownTokens(sequence) - sequence.computed, draft.tokensLeft);
    const missing = Math.max(0, blocksFor(sequence.computed + tokens) - sequence.blocks.length);
    for (;;) {
      const fresh = pool.take(missing);
      if (fresh !== null) {
        give(sequence, tokens, fresh, draft);
        return true;
      }
      if (preemptLatest(draft) === sequence) return false;
    }
  };

  const scheduleRunning = (draft: Draft): void => {
    // By index, since preemption shortens the list at its end.
    for (let at = 0; at < running.length && draft.tokensLeft > 0; at += 1) {
      const sequence = running[at];
      if (sequence === undefined || !continueRunning(sequence, draft)) return;
    }
  };

  /** Leading blocks of the sequence that are in the cache. The last token is always computed: it makes the next one. */
  const cachedPrefix = (sequence: Sequence): readonly number[] => {
    const found: number[] = [];
    const most = Math.floor((knownTokens(sequence) - 1) / blockSize);
    while (found.length < most) {
      const block = pool.find(sequence.keyOf(found.length));
      if (block === undefined) break;
      found.push(block);
    }
    return found;
  };

  /** False when the head of the queue has to wait. */
  const admitHead = (sequence: Sequence, draft: Draft): boolean => {
    const cached = cachedPrefix(sequence);
    const cachedTokens = cached.length * blockSize;
    const needed = knownTokens(sequence) - cachedTokens;
    if (!chunkedPrefill && needed > draft.tokensLeft) return false;
    const revived = cached.filter((block) => pool.isFree(block)).length;
    // The whole prompt must fit before its first chunk starts; else two long prompts could block each other half-way.
    if (blocksFor(knownTokens(sequence)) - cached.length + revived > pool.free()) return false;
    pool.hold(cached);
    const tokens = Math.min(needed, draft.tokensLeft);
    const fresh = pool.take(blocksFor(cachedTokens + tokens) - cached.length);
    if (fresh === null)
      throw new ProbeExporterError('INVARIANT', 'simulated scheduler: a prompt that fits does not fit');
    sequence.blocks = [...cached];
    sequence.named = cached.length;
    sequence.computed = cachedTokens;
    sequence.cachedTokens ??= Math.min(cachedTokens, sequence.promptTokens);
    sequence.running = true;
    waiting.shift();
    running.push(sequence);
    draft.admitted.push(sequence);
    give(sequence, tokens, fresh, draft);
    return true;
  };

  const admitWaiting = (draft: Draft): void => {
    // A step that had to preempt admits nobody: the blocks just freed are for those that keep running.
    if (draft.preempted.length > 0) return;
    while (draft.tokensLeft > 0 && running.length < maxNumSeqs) {
      const head = waiting[0];
      if (head === undefined || !admitHead(head, draft)) return;
    }
  };

  return {
    running,
    waiting,
    add: (sequence) => void waiting.push(sequence),
    remove(sequence) {
      const list = sequence.running ? running : waiting;
      const at = list.indexOf(sequence);
      if (at >= 0) list.splice(at, 1);
      letGo(sequence);
    },
    plan() {
      const draft: Draft = { entries: [], preempted: [], admitted: [], tokensLeft: tokenBudget };
      for (const sequence of running) sequence.scheduled = 0;
      scheduleRunning(draft);
      admitWaiting(draft);
      const { entries, preempted, admitted } = draft;
      return { entries, preempted, admitted, work: workOf(entries) };
    },
    clear() {
      running.length = 0;
      waiting.length = 0;
      pool.clear();
    },
  };
}

/** A sequence with all but its newest token computed decodes; any other computes a chunk of prompt (or of its past). */
const decodes = (sequence: Sequence): boolean => sequence.scheduled === 1 && sequence.generated > 0;

function workOf(entries: readonly Sequence[]): StepWork {
  let prefillTokens = 0;
  let decodeSequences = 0;
  let kvTokensRead = 0;
  for (const sequence of entries) {
    if (decodes(sequence)) decodeSequences += 1;
    else prefillTokens += sequence.scheduled;
    kvTokensRead += sequence.computed;
  }
  return { prefillTokens, decodeSequences, kvTokensRead };
}
