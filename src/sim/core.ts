import { ProbeExporterError } from '../errors.ts';
import type { MonotonicInstant } from '../units.ts';
import { accountAdmission, accountFinish, accountToken, resultOf } from './account.ts';
import { createBlockPool } from './blocks.ts';
import { stepSeconds } from './cost.ts';
import type { SimEngineOptions } from './options.ts';
import { createRandom } from './random.ts';
import { createScheduler, type StepPlan } from './scheduler.ts';
import { createSequence, knownTokens, type Sequence } from './sequence.ts';
import { createStatistics, type Statistics, type StatisticsRecorder } from './statistics.ts';
import type { PlannedStep } from './step-loop.ts';
import { answerSeed, answerText } from './tokenizer.ts';
import type { PublishedGauges, SimFinishReason, SimListener, SimRequest } from './types.ts';

/** The requests and their cache, without the passing of time: told when a step begins and when it ends. */
export interface EngineCore {
  /** Arrives between two steps or during one; seen when the next one is planned. */
  submit(request: SimRequest, listener: SimListener, at: MonotonicInstant): Sequence;
  /** Frees what the sequence holds; later when `heard` is false: the engine hears of it at the next plan. */
  abort(sequence: Sequence, heard: boolean): void;
  plan(at: MonotonicInstant): PlannedStep | null;
  /** Ends every request at once; the cache is empty afterwards. A null reason also starts the counters anew. */
  dropAll(reason: SimFinishReason | null): void;
  gauges(): PublishedGauges;
  published(): PublishedGauges;
  statistics(): Statistics;
  audit(): void;
}

interface Live {
  readonly listener: SimListener;
  readonly maxTokens: number;
}

/** Where the answer ends, and by what. The end mark is its last token when the model ended it. */
function answerEnd(request: SimRequest, seed: number, options: SimEngineOptions): readonly [number, 'stop' | 'length'] {
  if (request.ignoreEos) return [request.maxTokens, 'length'];
  const natural = createRandom(seed).logNormal(options.naturalOutputTokens, options.naturalOutputSigma);
  const stopsAt = Math.max(Math.round(natural), request.minTokens + 1);
  return stopsAt <= request.maxTokens ? [stopsAt, 'stop'] : [request.maxTokens, 'length'];
}

function checkFits(request: SimRequest, maxModelLen: number): void {
  const { promptTokenIds, maxTokens } = request;
  if (promptTokenIds.length >= 1 && maxTokens >= 1 && promptTokenIds.length + maxTokens <= maxModelLen) return;
  const size = `${promptTokenIds.length} prompt and ${maxTokens} answer tokens`;
  throw new ProbeExporterError('INVARIANT', `simulated engine: ${size} do not fit a model of ${maxModelLen}`);
}

export function createEngineCore(options: SimEngineOptions): EngineCore {
  const pool = createBlockPool({ numBlocks: options.numGpuBlocks, prefixCaching: options.prefixCaching });
  // Without chunks a step must be able to take the longest prompt whole.
  const tokenBudget = options.chunkedPrefill
    ? options.maxNumBatchedTokens
    : Math.max(options.maxNumBatchedTokens, options.maxModelLen);
  const scheduler = createScheduler({ ...options, tokenBudget }, pool);
  const live = new Map<Sequence, Live>();
  let statistics: StatisticsRecorder = createStatistics();
  let published: PublishedGauges = { running: 0, waiting: 0, kvUsageRatio: 0 };
  /** Arrived since the step in flight was planned. */
  let inbox: Sequence[] = [];
  /** Given up while the engine could not hear of it. */
  let unheard: Sequence[] = [];
  let arrivals = 0;

  const gauges = (): PublishedGauges => ({
    running: scheduler.running.length,
    waiting: scheduler.waiting.length,
    kvUsageRatio: pool.usageRatio(),
  });
  const publish = (): void => {
    published = gauges();
  };

  /** What came in since the last step: new requests, and news of those given up. */
  const readMail = (): void => {
    for (const sequence of unheard) scheduler.remove(sequence);
    unheard = [];
    for (const sequence of inbox) scheduler.add(sequence);
    inbox = [];
  };

  const finish = (sequence: Sequence, maxTokens: number): void => {
    scheduler.remove(sequence);
    sequence.gone = true;
    live.delete(sequence);
    accountFinish(statistics, sequence, maxTokens);
  };

  const emit = (sequence: Sequence, now: MonotonicInstant): void => {
    const request = live.get(sequence);
    if (request === undefined) throw new ProbeExporterError('INVARIANT', 'simulated engine: a token for nobody');
    accountToken(statistics, sequence, now);
    sequence.firstTokenAt ??= now;
    sequence.lastTokenAt = now;
    const index = sequence.generated;
    sequence.generated += 1;
    const finishReason = sequence.generated === sequence.answerTokens ? sequence.finishReason : null;
    if (finishReason !== null) finish(sequence, request.maxTokens);
    const text = finishReason === 'stop' ? '' : answerText(sequence.answerSeed, index);
    request.listener.onToken({ index, text, finishReason });
    if (finishReason !== null) request.listener.onEnd?.(resultOf(sequence, finishReason));
  };

  const complete = (plan: StepPlan, now: MonotonicInstant): void => {
    let tokens = 0;
    for (const sequence of plan.entries) {
      // Given up while the step was in flight.
      if (sequence.gone) continue;
      sequence.computed += sequence.scheduled;
      if (sequence.computed < knownTokens(sequence)) continue;
      tokens += sequence.generated === 0 ? sequence.promptTokens + 1 : 1;
      emit(sequence, now);
    }
    statistics.observe('iterationTokens', tokens);
    publish();
  };

  const account = (plan: StepPlan, at: MonotonicInstant): void => {
    statistics.add('preemptions', plan.preempted.length);
    for (const sequence of plan.admitted) {
      if (sequence.admittedAt !== null) continue;
      sequence.admittedAt = at;
      accountAdmission(statistics, sequence, options.prefixCaching);
    }
  };

  return {
    gauges: () => ({ ...gauges(), waiting: scheduler.waiting.length + inbox.length }),
    published: () => published,
    statistics: () => statistics.read(),
    audit: pool.audit,
    submit(request, listener, at) {
      checkFits(request, options.maxModelLen);
      const seed = answerSeed(request.promptTokenIds, options.seed + request.seed);
      const [answerTokens, finishReason] = answerEnd(request, seed, options);
      const sequence = createSequence({
        order: arrivals,
        promptTokenIds: request.promptTokenIds,
        answerSeed: seed,
        answerTokens,
        finishReason,
        arrivedAt: at,
        blockSize: options.blockSize,
      });
      arrivals += 1;
      live.set(sequence, { listener, maxTokens: request.maxTokens });
      inbox.push(sequence);
      return sequence;
    },
    abort(sequence, heard) {
      if (sequence.gone) return;
      sequence.gone = true;
      live.delete(sequence);
      const unread = inbox.indexOf(sequence);
      if (unread >= 0) inbox.splice(unread, 1);
      else if (!heard) unheard.push(sequence);
      else {
        scheduler.remove(sequence);
        publish();
      }
    },
    plan(at) {
      readMail();
      if (scheduler.running.length + scheduler.waiting.length === 0) {
        publish();
        return null;
      }
      const plan = scheduler.plan();
      if (plan.entries.length === 0) throw new ProbeExporterError('INVARIANT', 'simulated engine: work but no step');
      account(plan, at);
      return { lengthSeconds: stepSeconds(options.cost, plan.work), complete: (now) => complete(plan, now) };
    },
    dropAll(reason) {
      const dropped = [...live];
      live.clear();
      inbox = [];
      unheard = [];
      scheduler.clear();
      if (reason === null) statistics = createStatistics();
      else statistics.add('finishedAbort', dropped.length);
      publish();
      for (const [sequence] of dropped) sequence.gone = true;
      for (const [sequence, { listener }] of dropped) listener.onEnd?.(resultOf(sequence, reason));
    },
  };
}
