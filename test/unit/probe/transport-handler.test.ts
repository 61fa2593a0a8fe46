import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { type Connection, ConnectionGone } from '../../../src/probe/transport-connection.ts';
import { createHandler } from '../../../src/probe/transport-handler.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
};
const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

/** A handler on a connection that exists only in name; `heard` is what came out of it. */
function setUp(reused: boolean, clock: ManualClock = manualClock()) {
  const socket = Object.assign(new EventEmitter(), { bytesRead: 1000, writableLength: 0, readableEnded: false });
  const heard: string[] = [];
  let live = true;
  const phases = { dns: null, tcp: null, tls: null };
  const connection: Connection = {
    opened: { socket: socket as unknown as Socket, phases, certificateExpiresAt: null, proxyHeaders: null },
    openedAt: clock.monotonic(),
    usable: () => true,
    dispatch: () => {},
    destroy: () => {},
  };
  const handler = createHandler(
    connection,
    { reused, retriedStale: false },
    {
      connecting: () => void heard.push('connecting'),
      reached: () => void heard.push('reached'),
      requestStarted: (_, facts) => void heard.push(facts.reused ? 'started reused' : 'started fresh'),
      requestWritten: () => void heard.push('written'),
      headers: (_, status) => void heard.push(`headers ${status}`),
      data: (_, bytes) => void heard.push(`data ${bytes.length}`),
      ended: () => void heard.push('sink ended'),
      failed: () => void heard.push('sink failed'),
    },
    {
      live: () => live,
      ended: () => void heard.push('ended'),
      failed: ({ step, responseBytes }) => void heard.push(`failed ${step} ${responseBytes}`),
      stale: (sent) => void heard.push(sent ? 'stale, sent' : 'stale, not sent'),
    },
    clock,
  );
  return { clock, socket, heard, handler, end: () => (live = false) };
}

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe('a request on one connection', () => {
  test('is told in order, without what comes before the response', async () => {
    const { handler, heard } = setUp(false);
    handler.onRequestStart?.(controller, {});
    await nextTick();
    handler.onResponseStart?.(controller, 103, {});
    handler.onResponseStart?.(controller, 200, { 'Content-Type': 'text/event-stream' });
    handler.onResponseData?.(controller, Buffer.from('abc'));
    handler.onResponseEnd?.(controller, {});
    expect(heard).toEqual(['started fresh', 'written', 'headers 200', 'data 3', 'ended']);
  });

  test('is written only when the kernel has taken all of it', async () => {
    const { handler, heard, socket } = setUp(false);
    socket.writableLength = 5;
    handler.onRequestStart?.(controller, {});
    await nextTick();
    expect(heard).toEqual(['started fresh']);
    socket.emit('drain');
    expect(heard).toEqual(['started fresh', 'written']);
  });

  test('says nothing more once its exchange is over', () => {
    const { handler, heard, end } = setUp(false);
    end();
    handler.onResponseStart?.(controller, 200, {});
    handler.onResponseData?.(controller, Buffer.from('abc'));
    expect(heard).toEqual([]);
  });
});

describe('a broken request', () => {
  test('on a reused connection that was gone before it was written is stale, and was not sent', () => {
    const { handler, heard } = setUp(true);
    handler.onResponseError?.(controller, new ConnectionGone('gone'));
    expect(heard).toEqual(['stale, not sent']);
  });

  test('on a reused connection without a byte of response is stale, and was sent', () => {
    const { handler, heard } = setUp(true);
    handler.onRequestStart?.(controller, {});
    handler.onResponseError?.(controller, reset);
    expect(heard).toEqual(['started reused', 'stale, sent']);
  });

  test.each([
    ['on a fresh connection', false, 0, 0, reset],
    ['after a byte of the response', true, 1, 0, reset],
    ['after a second, which is no round trip', true, 0, 1.01, reset],
    ['by something else than the connection', true, 0, 0, new TypeError('x')],
  ])('%s has failed', async (_, reused, bytes, afterSeconds, error) => {
    const { handler, heard, socket, clock } = setUp(reused);
    handler.onRequestStart?.(controller, {});
    socket.bytesRead += bytes;
    await clock.advance(afterSeconds);
    handler.onResponseError?.(controller, error);
    expect(heard.at(-1)).toBe(`failed request ${bytes}`);
  });
});
