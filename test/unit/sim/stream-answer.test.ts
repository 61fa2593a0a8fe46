import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readCall } from '../../../src/sim/api-request.ts';
import { streamAnswer } from '../../../src/sim/stream-answer.ts';
import { bench } from './helpers.ts';

/** As much of a response as a stream needs, with a socket that is full when told so. */
class FakeResponse extends EventEmitter {
  readonly pieces: string[] = [];
  ended = false;
  full = false;

  writeHead(): this {
    return this;
  }
  flushHeaders(): void {}
  write(text: string): boolean {
    this.pieces.push(text);
    return !this.full;
  }
  end(text: string): void {
    this.pieces.push(text);
    this.ended = true;
    this.emit('close');
  }
  destroy(): void {
    this.emit('close');
  }

  completionTokens(): readonly number[] {
    return [...this.pieces.join('').matchAll(/"completion_tokens":(\d+)/g)].map((match) => Number(match[1]));
  }
}

function begin(maxTokens: number) {
  const on = bench();
  const response = new FakeResponse();
  const body = {
    prompt: 'hello world',
    max_tokens: maxTokens,
    ignore_eos: true,
    stream: true,
    stream_options: { include_usage: true, continuous_usage_stats: true },
  };
  streamAnswer(
    response as unknown as ServerResponse,
    readCall('completions', body, { model: 'sim', maxModelLen: 8192 }),
    {
      clock: on.clock,
      engine: on.engine,
      head: { api: 'completions', id: 'cmpl-1', created: 1, model: 'sim', fingerprint: 'f' },
      faults: {},
      streamInterval: 1,
      promptTokensDetails: true,
    },
  );
  return { ...on, response };
}

describe('a simulated stream and its client', () => {
  it('merges tokens for a client that reads too slowly, and loses none', () => {
    const { clock, response } = begin(40);
    clock.run(0.1);
    response.full = true;
    clock.run(0.3);
    response.full = false;
    response.emit('drain');
    clock.runOut();
    const sent = response.completionTokens();
    const steps = sent.slice(1, -1).map((tokens, index) => tokens - (sent[index] ?? 0));
    expect(Math.max(...steps)).toBeGreaterThan(10);
    expect(steps.filter((tokens) => tokens > 1)).toHaveLength(1);
    expect(sent.at(-1)).toBe(40);
    const text = response.pieces.join('');
    expect(
      text
        .match(/"text":"( [a-z]{4})+"/g)
        ?.join('')
        .match(/ [a-z]{4}/g),
    ).toHaveLength(40);
    expect(response.ended).toBe(true);
  });

  it('ends a stream whose last token came while its client did not read', () => {
    const { clock, response } = begin(20);
    clock.run(0.1);
    response.full = true;
    clock.runOut();
    expect(response.ended).toBe(false);
    response.full = false;
    response.emit('drain');
    expect(response.ended).toBe(true);
    expect(response.completionTokens().at(-1)).toBe(20);
    expect(response.pieces.at(-1)).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('lets the engine go of a client that left, also in the middle of a full socket', () => {
    const { clock, engine, response } = begin(2000);
    clock.run(0.1);
    response.full = true;
    clock.run(0.1);
    response.destroy();
    expect(engine.state()).toMatchObject({ running: 0, kvUsageRatio: 0 });
    const written = response.pieces.length;
    response.emit('drain');
    clock.runOut();
    expect(response.pieces).toHaveLength(written);
  });
});
