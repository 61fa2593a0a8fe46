import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Connection } from '../../../src/probe/transport-connection.ts';
import { createIdleConnections } from '../../../src/probe/transport-idle.ts';
import { manualClock } from '../../support/manual-clock.ts';

function setUp() {
  const clock = manualClock();
  const closed: string[] = [];
  const connect = (name: string): Connection & { lose(): void } => {
    let usable = true;
    return {
      opened: {
        socket: {} as Socket,
        phases: { dns: null, tcp: null, tls: null },
        certificateExpiresAt: null,
        proxyHeaders: null,
      },
      openedAt: clock.monotonic(),
      usable: () => usable,
      dispatch: () => {},
      destroy: () => {
        usable = false;
        closed.push(name);
      },
      lose: () => {
        usable = false;
      },
    };
  };
  return { clock, closed, connect, idle: createIdleConnections(clock) };
}

describe('idle connections', () => {
  test('are taken newest first, each once', () => {
    const { idle, connect } = setUp();
    const [first, second] = [connect('first'), connect('second')];
    idle.put(first);
    idle.put(second);
    expect([idle.take(), idle.take(), idle.take()]).toEqual([second, first, null]);
  });

  test('that the server closed are passed over and let go', () => {
    const { idle, connect, closed } = setUp();
    const [good, lost] = [connect('good'), connect('lost')];
    idle.put(good);
    idle.put(lost);
    lost.lose();
    expect(idle.take()).toBe(good);
    expect(closed).toEqual(['lost']);
  });

  test('are given up after ten minutes, so that changes of DNS are followed', async () => {
    const { idle, connect, clock, closed } = setUp();
    idle.put(connect('old'));
    await clock.advance(599);
    const kept = idle.take();
    expect(kept).not.toBeNull();
    if (kept !== null) idle.put(kept);
    await clock.advance(2);
    expect(idle.take()).toBeNull();
    expect(closed).toEqual(['old']);
  });

  test('left over from a burst go with the next one that comes back', async () => {
    const { idle, connect, clock, closed } = setUp();
    idle.put(connect('spare'));
    await clock.advance(601);
    idle.put(connect('new'));
    expect(closed).toEqual(['spare']);
  });

  test('are all closed at the end', () => {
    const { idle, connect, closed } = setUp();
    idle.put(connect('a'));
    idle.put(connect('b'));
    idle.close();
    expect(closed).toEqual(['a', 'b']);
    expect(idle.take()).toBeNull();
  });
});
