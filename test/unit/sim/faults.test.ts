import { describe, expect, it } from 'vitest';
import { parseFault, parseFaultText } from '../../../src/sim/fault-parse.ts';
import { SIM_FAULT_KINDS, type SimFault } from '../../../src/sim/fault-types.ts';
import { createFaultBoard } from '../../../src/sim/faults.ts';
import { bench } from './helpers.ts';

describe('a fault as it is written', () => {
  it.each(SIM_FAULT_KINDS)('may be the bare kind %s', (kind) => {
    expect(parseFault({ kind })).toMatchObject({ kind });
    expect(parseFaultText(kind)).toEqual(parseFault({ kind }));
  });

  it('takes its fields from JSON or from a command line', () => {
    const expected: SimFault = {
      kind: 'stall',
      afterTokens: 5,
      stallSeconds: 1.5 as never,
      requests: 2,
      forSeconds: 60 as never,
    };
    expect(parseFault({ kind: 'stall', after_tokens: 5, stall_seconds: 1.5, requests: 2, for_seconds: 60 })).toEqual(
      expected,
    );
    expect(parseFaultText('stall, after_tokens=5, stall_seconds=1.5, requests=2, for_seconds=60')).toEqual(expected);
  });

  it('lasts for ever and befalls everybody unless it says otherwise', () => {
    expect(parseFaultText('truncate')).toEqual({
      kind: 'truncate',
      afterTokens: 3,
      how: 'end',
      requests: null,
      forSeconds: null,
    });
  });

  it.each([
    ['refuse,status=429,retry_after_seconds=7', { kind: 'refuse', status: 429, retryAfterSeconds: 7 }],
    ['error,where=stream,after_tokens=0', { kind: 'error', where: 'stream', afterTokens: 0 }],
    ['slow,factor=0.5', { kind: 'slow', factor: 0.5 }],
    ['restart,down_seconds=0', { kind: 'restart', downSeconds: 0 }],
    ['clear,fault=hang', { kind: 'clear', fault: 'hang' }],
    ['clear', { kind: 'clear', fault: null }],
  ])('reads %s', (text, expected) => {
    expect(parseFaultText(text)).toMatchObject(expected);
  });

  it('takes a status as a number, too', () => {
    expect(parseFault({ kind: 'refuse', status: 429 })).toMatchObject({ status: 429 });
  });

  it.each([
    [null, /expected an object/],
    [{ kind: 'explode' }, /kind must be one of error, stall/],
    [{}, /kind must be one of/],
    [{ kind: 'stall', after_tokens: -1 }, /after_tokens must be a number of at least 0/],
    [{ kind: 'stall', after_tokens: 'many' }, /after_tokens must be a number/],
    [{ kind: 'hang', factor: 2 }, /hang has no field factor; it has kind, for_seconds/],
    [{ kind: 'truncate', how: 'softly' }, /how must be one of end, reset/],
    [{ kind: 'refuse', status: 418 }, /status must be one of 503, 429/],
    [{ kind: 'slow', factor: 0 }, /factor must be a number of at least 0.01/],
  ])('refuses %j and says why', (given, message) => {
    expect(() => parseFault(given)).toThrow(message);
  });

  it('refuses a command line field without a value', () => {
    expect(() => parseFaultText('stall,after_tokens')).toThrow(/not name=value/);
  });
});

describe('the fault board', () => {
  const board = () => {
    const on = bench();
    return { ...on, faults: createFaultBoard({ clock: on.clock, engine: on.engine }) };
  };
  const raise = (on: ReturnType<typeof board>, text: string): void => {
    const fault = parseFaultText(text);
    if (fault.kind !== 'restart') on.faults.raise(fault);
  };

  it('gives a request all faults of requests in force, and none of the engine', () => {
    const on = board();
    raise(on, 'stall');
    raise(on, 'buffer');
    raise(on, 'slow,factor=2');
    expect(Object.keys(on.faults.forRequest()).sort()).toEqual(['buffer', 'stall']);
    expect(on.faults.active().map((fault) => fault.kind)).toEqual(['stall', 'buffer', 'slow']);
  });

  it('ends a fault after the requests it was for', () => {
    const on = board();
    raise(on, 'stall,requests=2');
    const befallen = [1, 2, 3].map(() => on.faults.forRequest().stall !== undefined);
    expect(befallen).toEqual([true, true, false]);
    expect(on.faults.active()).toEqual([]);
  });

  it('ends a fault after its time, and lets a new one of the kind replace the old with its time', () => {
    const on = board();
    raise(on, 'hang,for_seconds=10');
    on.clock.run(6);
    raise(on, 'hang,for_seconds=10');
    on.clock.run(6);
    expect(on.engine.state().frozen).toBe(true);
    on.clock.run(5);
    expect(on.engine.state().frozen).toBe(false);
    expect(on.faults.active()).toEqual([]);
  });

  it('does to the engine what the fault says, and undoes it when cleared', () => {
    const on = board();
    raise(on, 'hang');
    raise(on, 'slow,factor=3');
    raise(on, 'sleep');
    expect(on.engine.state()).toMatchObject({ frozen: true, slowFactor: 3, asleep: true });
    raise(on, 'clear,fault=hang');
    expect(on.engine.state()).toMatchObject({ frozen: false, slowFactor: 3, asleep: true });
    raise(on, 'clear');
    expect(on.engine.state()).toMatchObject({ frozen: false, slowFactor: 1, asleep: false });
  });

  it('clears the faults of the engine alone for a new process', () => {
    const on = board();
    raise(on, 'hang');
    raise(on, 'buffer');
    on.faults.clearEngine();
    expect(on.engine.state().frozen).toBe(false);
    expect(on.faults.active().map((fault) => fault.kind)).toEqual(['buffer']);
  });

  it('leaves no timer when closed', () => {
    const on = board();
    raise(on, 'hang,for_seconds=10');
    on.faults.close();
    expect(on.clock.pendingTimers()).toBe(0);
  });
});
