import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Seconds } from '../units.ts';
import { buildVersion } from '../version.ts';
import type { ReadingLimits } from './apis/api.ts';
import { apiDialect } from './apis/table.ts';
import { assemble } from './assemble.ts';
import { type Attempt, attempt, type Standing } from './attempt.ts';
import { noExchange, READING_LIMITS } from './exchange.ts';
import { displayUrl, errorCode, failure } from './failure.ts';
import { createLoopDelayMonitor, type LoopDelayMonitor } from './loop-delay.ts';
import type { Failure, ProbeOutcome } from './outcome.ts';
import type { ProbeProfile, ProbeTarget } from './profile.ts';
import { createPromptSource } from './prompt.ts';
import { createRefusals } from './refusals.ts';
import { createRequestFrame, newProbeId, type RequestFrame } from './request.ts';
import { retryAfter } from './retry-after.ts';
import { createStop, type Stop } from './stop.ts';
import { createTransport } from './transport.ts';
import type { Resolve } from './transport-address.ts';
import type { Environment } from './transport-proxy.ts';

export interface ProbeOptions {
  /** Ends the probe without an outcome: for shutdown. */
  readonly signal?: AbortSignal;
  /** Send a W3C traceparent whose trace id is the probe's id. */
  readonly traceparent: boolean;
  /** Sent instead of one that the prober makes itself. */
  readonly prompt?: string;
}

/** Probes one target with one profile. */
export interface Prober {
  /**
   * Runs one probe: one request, two in the one case that `retriedStaleConnection` marks. Never throws, whatever the
   * endpoint does. Null when `signal` aborted it or the prober was closed: such a probe leaves no half of a record.
   */
  probe(options: ProbeOptions): Promise<ProbeOutcome | null>;
  /** Ends running probes, closes all connections. Safe to call twice. */
  close(): Promise<void>;
}

export interface ProberOptions {
  readonly target: ProbeTarget;
  readonly profile: ProbeProfile;
  readonly disturbedAfterSeconds: Seconds;
  /** Request parameters that the endpoint is already known to refuse. */
  readonly refusedParameters?: readonly string[];
  /** Leaves out what only the record of a single probe shows: `timeline` is empty, `outputHash` null. */
  readonly figuresOnly?: boolean;
}

export interface ProberDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Shared by all probers of a process where given; each has its own otherwise. */
  readonly loopDelay?: LoopDelayMonitor;
  /** Defaults to the system's resolver. */
  readonly resolve?: Resolve;
  /** Where `proxyUrl: env` looks; defaults to the process's environment. */
  readonly environment?: Environment;
}

/** A known answer that did not come is told by its hash. */
const figuresOf = ({ expect }: ProbeProfile): ReadingLimits => ({
  ...READING_LIMITS,
  timelineEntries: 0,
  hashText: expect.answer !== null,
});

function createStanding(options: ProberOptions, dependencies: ProberDependencies, log: Logger): Standing {
  const { target, profile, refusedParameters = [], figuresOnly = false } = options;
  const dialect = apiDialect(target.api);
  const userAgent = `inference-probe-exporter/${buildVersion().version}`;
  let frame: RequestFrame | null = null;
  return {
    target,
    profile,
    dialect,
    prompts: createPromptSource({ target: target.name, profile }),
    refusals: createRefusals(dialect.optionalParameters, refusedParameters),
    transport: createTransport(
      { settings: target.connection, connection: profile.connection },
      { ...dependencies, log },
    ),
    limits: figuresOnly ? figuresOf(profile) : READING_LIMITS,
    frame() {
      frame ??= createRequestFrame(target, dialect, userAgent);
      return frame;
    },
    refused: (parameter) => log.warn({ parameter }, 'the endpoint refuses a request parameter, left out from now on'),
  };
}

/** Everything that is kept from one probe to the next lives here: connections, refused parameters, the prompt's size. */
export function createProber(options: ProberOptions, dependencies: ProberDependencies): Prober {
  const { target, profile, disturbedAfterSeconds } = options;
  const { clock } = dependencies;
  const log = dependencies.log.child({ target: target.name, profile: profile.name });
  const loopDelay = dependencies.loopDelay ?? createLoopDelayMonitor(clock);
  const standing = createStanding(options, dependencies, log);
  const running = new Set<Stop>();
  let closed = false;

  const ownFault = (error: unknown): Attempt => {
    const code = errorCode(error);
    if (code === null) log.error({ error: stackOf(error) }, 'a probe failed through a fault of the exporter');
    const what = `the request could not be made (${code ?? 'a bug'})`;
    const fault = failure('internal', displayUrl(target.url), what, code === null ? {} : { code });
    return { facts: noExchange(clock.monotonic()), failure: fault };
  };

  /** Runs `attempt` under a signal of its own, that follows the caller's only for this long. */
  const guarded = async (id: string, { signal, traceparent, prompt }: ProbeOptions): Promise<Attempt> => {
    const stop = createStop();
    const forward = (): void => stop.abort();
    signal?.addEventListener('abort', forward, { once: true });
    running.add(stop);
    try {
      return await attempt(standing, { id, traceparent, prompt: prompt ?? null }, clock, stop);
    } catch (error) {
      return ownFault(error);
    } finally {
      running.delete(stop);
      signal?.removeEventListener('abort', forward);
    }
  };

  const probe = async (how: ProbeOptions): Promise<ProbeOutcome | null> => {
    if (closed || how.signal?.aborted) return null;
    const id = newProbeId();
    const [startedAt, beganAt] = [clock.unix(), clock.monotonic()];
    const window = loopDelay.open();
    const { facts, failure: failed } = await guarded(id, how);
    const loopDelaySeconds = window.close();
    if (facts.ending.kind === 'aborted') return null;
    return assemble(facts, failed, {
      id,
      target: target.name,
      model: target.model,
      profile: profile.name,
      api: target.api,
      startedAt,
      beganAt,
      refusedParameters: [...standing.refusals.refused()],
      clientCertificateExpiresAt: standing.transport.clientCertificateExpiresAt(),
      retryAfterSeconds: asksToWait(facts.status, failed) ? retryAfter(facts.headers, clock.unix()) : null,
      loopDelaySeconds,
      disturbedAfterSeconds,
    });
  };

  return {
    probe,
    close: () => {
      closed = true;
      for (const stop of [...running]) stop.abort();
      standing.transport.close();
      return Promise.resolve();
    },
  };
}

/** Some gateways say that they have no room with HTTP 200 and an error object. */
const asksToWait = (status: number | null, failed: Failure | null): boolean =>
  (status ?? 0) >= 300 || failed?.side === 'capacity';

/** The frames of a stack without the message, which may hold anything. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return [error.name, ...frames.slice(0, 8)].join('\n');
}
