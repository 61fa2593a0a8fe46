import type { Clock, Timer } from '../clock.ts';
import { unreachable } from '../errors.ts';
import type { SimulatedEngine } from './engine.ts';
import type { EngineFault, RequestFault, SimFault } from './fault-types.ts';

/** The faults that one request takes with it. */
export type RequestFaults = { readonly [F in RequestFault as F['kind']]?: F };

type ActiveFault = RequestFault | EngineFault;

/** What is going wrong at the moment: one fault of a kind at a time, a new one replaces the old. */
export interface FaultBoard {
  /** Puts a fault in force. `restart` is not for the board: it is the server's. */
  raise(fault: Exclude<SimFault, { readonly kind: 'restart' }>): void;
  /** Those that befall the request arriving now; counts it. */
  forRequest(): RequestFaults;
  active(): readonly ActiveFault[];
  /** Ends the engine's faults: a new process has none of them. */
  clearEngine(): void;
  /** Leaves no timer. */
  close(): void;
}

interface Entry {
  readonly fault: ActiveFault;
  /** Requests left; Infinity: all. */
  left: number;
  timer: Timer | null;
}

function apply(fault: ActiveFault, engine: SimulatedEngine): void {
  if (fault.kind === 'hang') engine.freeze();
  if (fault.kind === 'sleep') engine.sleep();
  if (fault.kind === 'slow') engine.setSlowFactor(fault.factor);
}

function undo(kind: ActiveFault['kind'], engine: SimulatedEngine): void {
  if (kind === 'hang') engine.thaw();
  if (kind === 'sleep') engine.wake();
  if (kind === 'slow') engine.setSlowFactor(1);
}

const ENGINE_KINDS: ReadonlySet<ActiveFault['kind']> = new Set(['hang', 'sleep', 'slow']);

export function createFaultBoard(deps: { readonly clock: Clock; readonly engine: SimulatedEngine }): FaultBoard {
  const { clock, engine } = deps;
  const entries = new Map<ActiveFault['kind'], Entry>();

  const end = (kind: ActiveFault['kind']): void => {
    const entry = entries.get(kind);
    if (entry === undefined) return;
    entry.timer?.cancel();
    entries.delete(kind);
    undo(kind, engine);
  };

  const start = (fault: ActiveFault): void => {
    // A fault that goes on is not undone in between: a hang extended is one hang.
    entries.get(fault.kind)?.timer?.cancel();
    const left = 'requests' in fault && fault.requests !== null ? fault.requests : Number.POSITIVE_INFINITY;
    const timer = fault.forSeconds === null ? null : clock.setTimer(fault.forSeconds, () => end(fault.kind));
    entries.set(fault.kind, { fault, left, timer });
    apply(fault, engine);
  };

  return {
    raise(fault) {
      switch (fault.kind) {
        case 'clear':
          for (const kind of fault.fault === null ? [...entries.keys()] : [fault.fault]) end(kind);
          return;
        case 'error':
        case 'stall':
        case 'truncate':
        case 'buffer':
        case 'degenerate':
        case 'refuse':
        case 'hang':
        case 'sleep':
        case 'slow':
          return start(fault);
        default:
          return unreachable(fault);
      }
    },
    forRequest() {
      const taken: Partial<Record<ActiveFault['kind'], ActiveFault>> = {};
      for (const [kind, entry] of entries) {
        if (ENGINE_KINDS.has(kind)) continue;
        taken[kind] = entry.fault;
        entry.left -= 1;
        if (entry.left <= 0) end(kind);
      }
      return taken as RequestFaults;
    },
    active: () => [...entries.values()].map((entry) => entry.fault),
    clearEngine: () => {
      for (const kind of ENGINE_KINDS) end(kind);
    },
    close: () => {
      for (const entry of entries.values()) entry.timer?.cancel();
    },
  };
}
