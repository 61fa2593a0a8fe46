import { describe, expect, it } from 'vitest';
import { renderOnce } from '../../../src/cli/once-render.ts';
import { drawStrip } from '../../../src/cli/once-strip.ts';
import type { Diagnosis } from '../../../src/diagnose/types.ts';
import type { FinishedProbe } from '../../../src/record.ts';
import { seconds } from '../../../src/units.ts';
import { entry, failedProbe, finish, goodProbe, tokensAt } from './support.ts';

const show = (finished: FinishedProbe, colour = false, columns = 80): string =>
  renderOnce(
    {
      finished,
      url: 'http://127.0.0.1:8000',
      asked: { promptTokens: 128, maxTokens: 32, prefix: 'unique' },
      findings: [],
    },
    { columns, colour },
  );

const QUEUED: Diagnosis = {
  cause: 'queueing',
  evidence: {
    samples: 5,
    kvUsageRatioMax: 0.97,
    runningMax: 48,
    waitingMax: 4,
    preemptionsIncrease: 0,
    generationTokensIncrease: 1234,
    restarted: false,
    hung: false,
    engineUp: true,
    zone: 'knee',
    connectSeconds: null,
    headersSeconds: 0.012,
    ttftSeconds: 4.2,
    longestGapSeconds: 0.05,
    eventLoopDelaySeconds: 0.001,
  },
};

describe('a good probe in a terminal', () => {
  it('shows verdict, phases, tokens to scale and figures', () => {
    expect(show(finish(goodProbe()))).toBe(
      `http://127.0.0.1:8000
model llama-3, API completions, engine vllm 0.32.0

GOOD    8 tokens in 460 ms, the first after 100 ms

  connect               0.40 ms   before the request
  request written       0.10 ms
  response headers      12.0 ms   HTTP 200
  first event            100 ms
  first token            100 ms   TTFT
  last token             450 ms
  terminal marker        460 ms   finish reason length

   H              T                                                          D
  ................|       |        |       |       |       |        |       |
  0                         a column is 6.05 ms                         460 ms
  H headers  T first token  D done  . waiting  | a token chunk

  TTFT 100 ms, TPOT 50.0 ms (20.0 tokens a second), longest gap 50.0 ms
  prompt: 128 tokens, 96 of them cached (asked for 128, prefix unique)
  output: 8 tokens in 8 chunks, counted by usage (at most 32)`,
    );
  });

  it('says that the connection was reused, and when visible text began after reasoning', () => {
    const text = show(
      finish(
        goodProbe({
          connection: 'reused',
          phases: { dns: null, tcp: null, tls: null, write: null, headers: null },
          ttfcSeconds: seconds(0.3),
        }),
      ),
    );
    expect(text).toContain('  connection reused');
    expect(text).toContain('first visible text     300 ms   the model reasoned before');
    expect(text).toContain('C first visible text');
    expect(text).not.toContain('connect  ');
  });

  it('says what does not exist instead of showing 0', () => {
    const text = show(
      finish(goodProbe({ tpotSeconds: null, longestGapSeconds: null, promptTokens: null, outputTokens: null })),
    );
    expect(text).toContain('TPOT none, longest gap none');
    expect(text).toContain('prompt: not told');
    expect(text).toContain('output: none');
  });

  it('explains what changes how the figures are to be read', () => {
    const text = show(
      finish(
        goodProbe({
          buffered: true,
          disturbed: true,
          fallback: true,
          compressed: true,
          retriedStaleConnection: true,
          nonconformingEvents: 2,
          refusedParameters: ['ignore_eos'],
          retryAfterSeconds: seconds(5),
        }),
      ),
    );
    for (const note of [
      'came in lumps',
      'late by 1.20 ms',
      'another model',
      'compressed',
      'asked again',
      '2 events did not conform',
      'refuses: ignore_eos',
      'left alone for 5.00 s',
    ]) {
      expect(text).toContain(note);
    }
  });

  it('shows the cause of a slow one with its evidence', () => {
    const text = show(finish(goodProbe({ ttftSeconds: seconds(4.2) }), QUEUED));
    expect(text).toContain('  cause: queueing: requests waited for a place in the batch');
    expect(text).toContain('  seen:  waiting up to 4, running up to 48, KV cache up to 97 %, preemptions +0,');
    expect(text).toContain('zone knee');
  });

  it('does not let a name from the server steer the terminal', () => {
    expect(show(finish(goodProbe({ model: 'evil\u001b[2J\nmodel' })))).toContain('model evil?[2J?model');
  });
});

describe('a failed probe in a terminal', () => {
  const failure = {
    reason: 'stalled',
    stage: 'stream',
    side: 'endpoint',
    message:
      'http://127.0.0.1:8000/v1/completions: no token for 10 s; look at preemptions and at the health of the engine process',
    detail: {},
  } as const;

  it('begins with the reason, who has to act, and what to do', () => {
    const text = show(
      finish(
        failedProbe(failure, {
          terminal: false,
          finishReason: null,
          timeline: tokensAt(0.1, 0.05, 4),
          durationSeconds: seconds(10.25),
        }),
      ),
    );
    expect(text).toContain(`FAILED  stalled (side: endpoint, stage: stream)
        http://127.0.0.1:8000/v1/completions: no token for 10 s; look at
        preemptions and at the health of the engine process`);
    expect(text).not.toContain('terminal marker');
  });

  it('of which nothing arrived has no strip', () => {
    const nothing = {
      timeline: [],
      durationSeconds: null,
      ttfeSeconds: null,
      ttftSeconds: null,
      ttfcSeconds: null,
      httpStatus: null,
      outputTokens: null,
      tokenChunks: 0,
    };
    const text = show(finish(failedProbe({ ...failure, reason: 'connect_refused', stage: 'connect' }, nothing)));
    expect(text).toContain('FAILED  connect_refused');
    expect(text).toContain('TTFT none');
    expect(text).not.toContain('a column is');
  });
});

describe('every line', () => {
  const finished = finish(
    goodProbe({
      model: 'organisation/a-model-with-a-rather-long-name-AWQ',
      buffered: true,
      disturbed: true,
      refusedParameters: ['ignore_eos', 'min_tokens'],
    }),
    QUEUED,
  );

  it.each([60, 80, 100, 500])('fits into a terminal of %d columns', (columns) => {
    const longest = Math.max(
      ...show(finished, false, columns)
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThanOrEqual(Math.min(columns, 120));
  });

  it('says the same with colour as without', () => {
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    const coloured = show(finished, true);
    expect(coloured).toMatch(escapes);
    expect(coloured.replace(escapes, '')).toBe(show(finished, false));
  });
});

describe('the strip of tokens', () => {
  it('shows a stall in its true place and length', () => {
    const timeline = [...tokensAt(0.11, 0.1, 3), ...tokensAt(0.81, 0.1, 3)];
    expect(drawStrip(goodProbe({ timeline, durationSeconds: seconds(1.1) }), 22)?.tokens).toBe('..| | |~~~~~~~~~| | |');
  });

  it('points out no gap among equal ones', () => {
    expect(drawStrip(goodProbe(), 40)?.tokens).not.toContain('~');
  });

  it('counts chunks that share a column', () => {
    const strip = drawStrip(
      goodProbe({ timeline: [...tokensAt(0.5, 0.001, 5), ...tokensAt(0.9, 0.0001, 20)], durationSeconds: seconds(1) }),
      10,
    );
    expect(strip?.tokens).toBe('.....5~~~+');
  });

  it('marks an error where the end would be', () => {
    const strip = drawStrip(
      goodProbe({ timeline: [...tokensAt(0.1, 0.1, 2), entry(0.5, 'error')], durationSeconds: seconds(1) }),
      10,
    );
    expect(strip?.marks).toBe('HT   X');
    expect(strip?.legend).toContain('X error');
  });

  it('says when it could not draw all chunks', () => {
    expect(show(finish(goodProbe({ tokenChunks: 500 })))).toContain('(8 of 500 token chunks are drawn)');
  });
});
