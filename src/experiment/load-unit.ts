import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import { createProber, type Prober } from '../probe/prober.ts';
import type { ProbeProfile, ProbeTarget } from '../probe/profile.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import { runArrivals } from './arrivals.ts';
import { type ClientMeter, createClientMeter } from './client-meter.ts';
import { createPromptSet, type PromptPlan } from './prompts.ts';
import { rounded, toRequestRecord } from './request-record.ts';
import type { Arrival, ClientRecord, RunPhase } from './types.ts';

/** A target that can be handed to another thread. */
export interface UnitTarget extends Omit<ProbeTarget, 'url' | 'apiKey'> {
  readonly url: string;
  readonly apiKey: string | null;
}

/** What one worker needs to know; plain data. */
export interface UnitOptions {
  readonly target: UnitTarget;
  readonly profile: ProbeProfile;
  readonly disturbedAfterSeconds: Seconds;
  readonly refusedParameters: readonly string[];
  readonly arrival: Arrival;
  readonly worker: number;
  readonly workers: number;
  readonly seed: string;
  readonly prompts: PromptPlan;
}

/** What a worker has to say, about twice a second. */
export interface UnitReport {
  /** Lines of `requests.jsonl` and `client.jsonl`. */
  readonly requests: string;
  readonly client: string;
  readonly inFlight: number;
  readonly ended: number;
  readonly failed: number;
  readonly outputTokens: number;
  /** Of each good request when it was sent (from the origin), its TTFT and its duration, in seconds. */
  readonly samples: readonly (readonly [sentAtSeconds: number, ttftSeconds: number, durationSeconds: number])[];
  /** The first failure of each reason in this report, in words. */
  readonly messages: readonly (readonly [reason: string, message: string])[];
}

/** From when to when requests are begun, in seconds from the origin of the run. */
export interface UnitSpan {
  readonly startAtSeconds: number;
  readonly untilSeconds: number;
  readonly rampSeconds: number;
}

/** One worker: its share of the load, measured and recorded. */
export interface LoadUnit {
  /** Resolves when no more is begun and everything has ended; what it has to say has been reported before. */
  run(phase: RunPhase, span: UnitSpan): Promise<void>;
  /** Begins no more. */
  stop(): void;
  /** Ends everything at once. What is in flight leaves no record. */
  close(): Promise<void>;
}

export interface UnitDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly origin: MonotonicInstant;
  readonly report: (report: UnitReport) => void;
  readonly createMeter?: () => ClientMeter;
}

const REPORT_SECONDS = seconds(0.5);
const CLIENT_SECONDS = seconds(1);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
interface Pending extends Mutable<Omit<UnitReport, 'inFlight' | 'samples' | 'messages'>> {
  readonly samples: [number, number, number][];
  readonly messages: Map<string, string>;
}

const nothing = (): Pending => ({
  requests: '',
  client: '',
  ended: 0,
  failed: 0,
  outputTokens: 0,
  samples: [],
  messages: new Map(),
});

/** Calls back at an absolute interval until stopped. */
function every(clock: Clock, interval: Seconds, callback: () => void): () => void {
  let due = after(clock.monotonic(), interval);
  let timer: Timer;
  const arm = (): void => {
    timer = clock.setTimer(elapsed(clock.monotonic(), due), () => {
      callback();
      const late = elapsed(due, clock.monotonic());
      due = after(due, seconds((Math.floor(Math.max(0, late) / interval) + 1) * interval));
      arm();
    });
  };
  arm();
  return () => timer.cancel();
}

function proberOf(
  { target, profile, disturbedAfterSeconds, refusedParameters }: UnitOptions,
  deps: UnitDependencies,
): Prober {
  const { url, apiKey, ...rest } = target;
  return createProber(
    {
      target: { ...rest, url: new URL(url), apiKey: () => apiKey },
      profile,
      disturbedAfterSeconds,
      refusedParameters,
      figuresOnly: true,
    },
    { clock: deps.clock, log: deps.log },
  );
}

class Unit implements LoadUnit {
  private readonly options: UnitOptions;
  private readonly deps: UnitDependencies;
  private readonly prober: Prober;
  private readonly promptOf: ReturnType<typeof createPromptSet>;
  private readonly meter: ClientMeter;
  private readonly timers: readonly (() => void)[];
  private pending = nothing();
  private stopping = new AbortController();
  private inFlight = 0;
  private sendLagMax = 0;
  private notStarted = 0;

  constructor(options: UnitOptions, deps: UnitDependencies) {
    this.options = options;
    this.deps = deps;
    this.prober = proberOf(options, deps);
    this.promptOf = createPromptSet(options.prompts);
    this.meter = (deps.createMeter ?? createClientMeter)();
    this.timers = [
      every(deps.clock, CLIENT_SECONDS, () => this.sampleClient()),
      every(deps.clock, REPORT_SECONDS, () => this.flush()),
    ];
  }

  async run(phase: RunPhase, span: UnitSpan): Promise<void> {
    const { clock, origin } = this.deps;
    const { arrival, worker, workers, seed } = this.options;
    this.stopping = new AbortController();
    // Each slot of a closed loop listens to it.
    setMaxListeners(0, this.stopping.signal);
    let made = 0;
    const send = (scheduledAt: MonotonicInstant | null): Promise<boolean> => {
      // Which request a worker makes next does not depend on how fast the others are.
      const index = made * workers + worker;
      made += 1;
      return this.send(phase, index, scheduledAt);
    };
    await runArrivals(
      { arrival, worker, workers, seed: `${seed}\n${phase}` },
      {
        startAt: after(origin, seconds(span.startAtSeconds)),
        until: after(origin, seconds(span.untilSeconds)),
        rampSeconds: seconds(span.rampSeconds),
      },
      {
        clock,
        send,
        notStarted: () => {
          this.notStarted += 1;
        },
      },
      this.stopping.signal,
    );
    this.sampleClient();
    this.flush();
  }

  stop(): void {
    this.stopping.abort();
  }

  async close(): Promise<void> {
    this.stop();
    for (const cancel of this.timers) cancel();
    this.meter.close();
    await this.prober.close();
  }

  private async send(phase: RunPhase, index: number, scheduledAt: MonotonicInstant | null): Promise<boolean> {
    const prompt = this.promptOf(phase, index);
    if (scheduledAt !== null) {
      this.sendLagMax = Math.max(this.sendLagMax, elapsed(scheduledAt, this.deps.clock.monotonic()));
    }
    this.inFlight += 1;
    const outcome = await this.prober.probe({ traceparent: false, prompt });
    this.inFlight -= 1;
    if (outcome === null) return false;
    this.note(outcome, phase, index, scheduledAt);
    return outcome.outcome === 'good';
  }

  private note(outcome: ProbeOutcome, phase: RunPhase, index: number, scheduledAt: MonotonicInstant | null): void {
    const { pending } = this;
    const { origin } = this.deps;
    const record = toRequestRecord(outcome, { index, phase, worker: this.options.worker, scheduledAt, origin });
    pending.requests += `${JSON.stringify(record)}\n`;
    pending.ended += 1;
    pending.outputTokens += record.outputTokens ?? 0;
    if (outcome.outcome === 'failed') {
      pending.failed += 1;
      const { reason, message } = outcome.failure;
      if (!pending.messages.has(reason)) pending.messages.set(reason, message);
    } else if (record.ttftSeconds !== null && record.sentAtSeconds !== null) {
      pending.samples.push([record.sentAtSeconds, record.ttftSeconds, record.durationSeconds ?? 0]);
    }
  }

  private sampleClient(): void {
    const { clock, origin } = this.deps;
    const { loopDelayP99Seconds, cpuRatio } = this.meter.take();
    const record: ClientRecord = {
      atSeconds: rounded(elapsed(origin, clock.monotonic())),
      worker: this.options.worker,
      loopDelayP99Seconds: rounded(loopDelayP99Seconds),
      cpuRatio: rounded(cpuRatio),
      sendLagMaxSeconds: rounded(this.sendLagMax),
      inFlight: this.inFlight,
      notStarted: this.notStarted,
    };
    this.sendLagMax = 0;
    this.notStarted = 0;
    this.pending.client += `${JSON.stringify(record)}\n`;
  }

  private flush(): void {
    const { messages, ...plain } = this.pending;
    this.pending = nothing();
    this.deps.report({ ...plain, inFlight: this.inFlight, messages: [...messages] });
  }
}

/** One worker of a load run, in this thread. */
export const createLoadUnit = (options: UnitOptions, deps: UnitDependencies): LoadUnit => new Unit(options, deps);
