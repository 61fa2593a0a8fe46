import { ProbeExporterError } from '../errors.ts';
import type { ApiName, FailedProbe, GoodProbe, ProbeOutcome } from '../probe/outcome.ts';
import { createProber } from '../probe/prober.ts';
import { createPromptMaker } from '../probe/prompt.ts';
import { seconds } from '../units.ts';
import { loadCost } from './load-cost.ts';
import { loadProfile, loadTarget } from './load-target.ts';
import type { CalibrateLoad, Calibration, LoadDependencies, PreparedLoad } from './load-types.ts';
import { createPromptSet, type PromptPlan, promptSetHash } from './prompts.ts';
import { median } from './statistics.ts';

type Deps = Pick<LoadDependencies, 'clock' | 'log' | 'signal'>;

/** Output tokens of a request that is only there to have its prompt counted. */
const SHORT_OUTPUT = 8;
/** More than the search of a prompt's size can take. */
const MOST_STEPS = 12;
const SIZE_DRIFT = 0.05;
/** Prompts of the size that was found, to see that they are all counted the same. */
const VERIFICATIONS = 2;

/** Asks with one API and one limit of tokens; a parameter that is refused is left out from then on. */
interface Asker {
  ask(prompt: string): Promise<GoodProbe>;
  close(): Promise<void>;
}

/** What all askers have learnt. */
interface Learnt {
  refused: readonly string[];
  readonly outcomes: ProbeOutcome[];
}

class Refused extends Error {
  readonly outcome: FailedProbe;

  constructor(outcome: FailedProbe) {
    super(outcome.failure.message);
    this.outcome = outcome;
  }
}

function createAsker(prepared: PreparedLoad, api: ApiName, maxTokens: number, learnt: Learnt, deps: Deps): Asker {
  const prober = createProber(
    {
      target: loadTarget(prepared, api),
      profile: { ...loadProfile(prepared.request), maxTokens },
      disturbedAfterSeconds: seconds(1),
      refusedParameters: learnt.refused,
    },
    deps,
  );
  return {
    async ask(prompt) {
      for (;;) {
        const outcome = await prober.probe({ signal: deps.signal, traceparent: false, prompt });
        if (outcome === null) {
          throw new ProbeExporterError('USAGE', 'interrupted before the run began: nothing was measured');
        }
        learnt.outcomes.push(outcome);
        const before = learnt.refused.length;
        learnt.refused = outcome.refusedParameters;
        if (outcome.outcome === 'good') return outcome;
        // Each can be refused only once, so this ends.
        if (learnt.refused.length === before) throw new Refused(outcome);
      }
    },
    close: () => prober.close(),
  };
}

/** The endpoint does not have this API, for all that can be told from the refusal. */
const isWrongApi = (error: unknown): boolean =>
  error instanceof Refused && ['not_found', 'bad_request'].includes(error.outcome.failure.reason);

/** An asker of the first API that the endpoint has, after one question. */
async function firstAsker(prepared: PreparedLoad, prompt: string, learnt: Learnt, deps: Deps) {
  let first: unknown = null;
  for (const api of prepared.facts.apis) {
    const asker = createAsker(prepared, api, Math.min(SHORT_OUTPUT, prepared.request.maxOutputTokens), learnt, deps);
    try {
      return { api, asker, answer: await asker.ask(prompt) };
    } catch (error) {
      await asker.close();
      if (!isWrongApi(error)) throw error;
      // The refusal of the likeliest API says most.
      first ??= error;
    }
  }
  throw first;
}

interface Sized {
  readonly api: ApiName;
  readonly plan: PromptPlan;
  readonly tokens: readonly number[];
}

const countsOf = (answers: readonly GoodProbe[]): number[] => answers.flatMap(({ promptTokens }) => promptTokens ?? []);

async function sizeFile(prepared: PreparedLoad, learnt: Learnt, deps: Deps): Promise<Sized> {
  const { filePrompts: prompts, request } = prepared;
  const byLength = [...prompts].sort((a, b) => a.length - b.length);
  const [least = '', middle = '', most = ''] = [byLength[0], byLength[byLength.length >> 1], byLength.at(-1)];
  // The longest first: if one is over the context it is this.
  const { api, asker, answer } = await firstAsker(prepared, most, learnt, deps);
  try {
    const others = [await asker.ask(middle), await asker.ask(least)];
    return { api, plan: { kind: 'file', prompts, seed: request.seed }, tokens: countsOf([answer, ...others]) };
  } finally {
    await asker.close();
  }
}

async function sizeMade(prepared: PreparedLoad, learnt: Learnt, deps: Deps): Promise<Sized> {
  const { promptTokens, prefix, seed } = prepared.request;
  const { size, compose } = createPromptMaker(promptTokens);
  let words = size.words;
  const made = (step: number): string => compose(`${seed}\ncalibration\n${step}`, words);
  const { api, asker, answer } = await firstAsker(prepared, made(0), learnt, deps);
  try {
    let latest = answer;
    for (let step = 1; step < MOST_STEPS && latest.promptTokens !== null && !size.settled; step += 1) {
      size.observe(words, latest.promptTokens);
      if (size.settled) break;
      words = size.words;
      latest = await asker.ask(made(step));
    }
    words = size.words;
    const plan: PromptPlan = { kind: 'made', promptTokens, words, prefix, seed };
    const verified: GoodProbe[] = [];
    for (let step = 0; step < VERIFICATIONS; step += 1) verified.push(await asker.ask(made(MOST_STEPS + step)));
    return { api, plan, tokens: countsOf(verified) };
  } finally {
    await asker.close();
  }
}

/** One request as they will all be, alone. */
async function askFully(prepared: PreparedLoad, { api, plan }: Sized, learnt: Learnt, deps: Deps): Promise<GoodProbe> {
  const asker = createAsker(prepared, api, prepared.request.maxOutputTokens, learnt, deps);
  try {
    return await asker.ask(createPromptSet(plan)('calibration', 0));
  } finally {
    await asker.close();
  }
}

function measured(tokens: readonly number[]): Calibration['measuredPromptTokens'] {
  const middle = median(tokens);
  return middle === null ? null : { min: Math.min(...tokens), median: middle, max: Math.max(...tokens) };
}

function notesOf({ request }: PreparedLoad, sized: Sized, full: GoodProbe, refused: readonly string[]): string[] {
  const size = median(sized.tokens);
  const drift = size === null ? 0 : size / request.promptTokens - 1;
  return [
    ...refused.map((parameter) => `the endpoint refuses the parameter ${parameter}: it is left out`),
    ...(size === null ? ['the endpoint does not report usage: the size of the prompts is a guess'] : []),
    ...(sized.plan.kind === 'made' && Math.abs(drift) > SIZE_DRIFT
      ? [`prompts have ${size} tokens: no number of words comes closer to ${request.promptTokens}`]
      : []),
    ...(!request.respectEos && full.outputTokens !== null && full.outputTokens < request.maxOutputTokens
      ? [
          `answers end by themselves (after ${full.outputTokens} of ${request.maxOutputTokens} tokens): lengths will vary`,
        ]
      : []),
  ];
}

/** See `CalibrateLoad`. */
export const calibrateLoad: CalibrateLoad = async (prepared, deps) => {
  const { request } = prepared;
  const learnt: Learnt = { refused: [], outcomes: [] };
  try {
    const sized = await (request.promptsFile === null ? sizeMade : sizeFile)(prepared, learnt, deps);
    const full = await askFully(prepared, sized, learnt, deps);
    const aloneSeconds = full.durationSeconds ?? 0;
    const hash = promptSetHash(sized.plan);
    const counted = measured(sized.tokens);
    return {
      ...prepared,
      plan: { ...prepared.plan, api: sized.api, promptSetHash: hash },
      calibration: {
        api: sized.api,
        prompts: sized.plan,
        promptSetHash: hash,
        measuredPromptTokens: counted,
        refusedParameters: learnt.refused,
        aloneSeconds,
        outcomes: learnt.outcomes,
        notes: notesOf(prepared, sized, full, learnt.refused),
      },
      cost: loadCost(request, aloneSeconds, counted?.median),
    };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { reason, message } = error.outcome.failure;
    throw new ProbeExporterError('USAGE', `the endpoint does not take the load (${reason}): ${message}`);
  }
};
