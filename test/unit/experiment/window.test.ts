import { describe, expect, it } from 'vitest';
import { completeUntil, eachArrival, isOfWindow, tokensInside, windowsOf } from '../../../src/experiment/window.ts';
import { aFailure, aRequest, aRun, aSecond } from '../../support/records.ts';

const arrivals = (record: Parameters<typeof eachArrival>[0]): [number, number][] => {
  const found: [number, number][] = [];
  eachArrival(record, (at, tokens) => found.push([at, tokens]));
  return found;
};

describe('arrivals of tokens', () => {
  it('rebuilds the instant of every chunk from TTFT and gaps', () => {
    expect(arrivals(aRequest({ sentAtSeconds: 10 }))).toEqual([
      [11, 1],
      [12, 1],
      [13, 1],
      [14, 1],
    ]);
  });

  it('shares the tokens after the first chunk evenly among the later chunks', () => {
    const record = aRequest({ outputTokens: 11, firstChunkTokens: 2 });
    expect(arrivals(record).map(([, tokens]) => tokens)).toEqual([2, 3, 3, 3]);
  });

  it('takes the first chunk for one token where its size is not known', () => {
    expect(arrivals(aRequest({ outputTokens: 7, firstChunkTokens: null })).map(([, tokens]) => tokens)).toEqual([
      1, 2, 2, 2,
    ]);
  });

  it('gives a single chunk all tokens', () => {
    expect(arrivals(aRequest({ outputTokens: 5, gapsMicroseconds: [] }))).toEqual([[1, 5]]);
  });

  it('counts chunks where no number of tokens is known', () => {
    expect(tokensInside(aRequest({ outputTokens: null }), { fromSeconds: 0, toSeconds: 9 })).toBe(4);
  });

  it('finds none in a request without a token, and those of one that failed later', () => {
    expect(arrivals(aFailure())).toEqual([]);
    expect(
      tokensInside(aFailure({ ttftSeconds: 1, outputTokens: 2, gapsMicroseconds: [1e6] }), {
        fromSeconds: 0,
        toSeconds: 9,
      }),
    ).toBe(2);
  });
});

describe('what belongs to the window', () => {
  const span = { fromSeconds: 5, toSeconds: 15 };

  it.each([
    { id: 'sent at its first instant', sent: 5, belongs: true },
    { id: 'sent just before it', sent: 4.999, belongs: false },
    { id: 'sent just before its end, ended after it', sent: 14.999, belongs: true },
    { id: 'sent at its end', sent: 15, belongs: false },
  ])('a request $id: $belongs', ({ sent, belongs }) => {
    expect(isOfWindow(aRequest({ sentAtSeconds: sent }), span)).toBe(belongs);
  });

  it('a request that was never sent belongs by the instant at which it was begun', () => {
    expect(isOfWindow(aFailure({ sentAtSeconds: null, beganAtSeconds: 6 }), span)).toBe(true);
  });

  it('a request of another phase does not', () => {
    expect(isOfWindow(aRequest({ sentAtSeconds: 6, phase: 'warmup' }), span)).toBe(false);
  });

  it('tokens belong by their own arrival, whatever request they are of', () => {
    // Chunks at 4, 5, 6, 7 and at 14, 15, 16, 17: three and one of them are inside.
    expect(tokensInside(aRequest({ sentAtSeconds: 3 }), span)).toBe(3);
    expect(tokensInside(aRequest({ sentAtSeconds: 13 }), span)).toBe(1);
  });
});

describe('the window of a run', () => {
  it('is trimmed at both ends', () => {
    expect(windowsOf(aRun(), [], [])).toEqual({
      whole: { fromSeconds: 0, toSeconds: 20 },
      trimmed: { fromSeconds: 5, toSeconds: 15 },
      trimSeconds: 5,
    });
  });

  it('does not exist before it has begun', () => {
    const { phases } = aRun();
    expect(windowsOf(aRun({}, { phases: { ...phases, window: { from: null, to: null } } }), [], [])).toBeNull();
  });

  it('ends, in a run that was killed, where a request in flight has left no record', () => {
    // One slot: requests at 0 to 4 and 4 to 8 are recorded, the one begun at 8 was lost.
    const requests = [0, 4].map((sent) => aRequest({ sentAtSeconds: sent }));
    const client = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5].map((at) => aSecond(at));
    expect(completeUntil(requests, client)).toBe(7.5);
    const { phases } = aRun();
    const killed = aRun({}, { ended: 'running', phases: { ...phases, window: { from: 0, to: null } } });
    expect(windowsOf(killed, requests, client)).toEqual({
      whole: { fromSeconds: 0, toSeconds: 7.5 },
      trimmed: { fromSeconds: 1.875, toSeconds: 5.625 },
      trimSeconds: 1.875,
    });
  });

  it('ends with the worker that lost something first', () => {
    const requests = [aRequest({ worker: 0 }), aRequest({ worker: 1 })];
    const client = [aSecond(1), aSecond(2), aSecond(1, { worker: 1 }), aSecond(2, { worker: 1, inFlight: 2 })];
    expect(completeUntil(requests, client)).toBe(1);
  });
});
