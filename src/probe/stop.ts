/**
 * What an exchange needs of an AbortSignal, which is one itself. Every probe has one of its own, and a signal with its
 * controller costs more than the rest of a probe's set-up together.
 */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal for one listener, with the means to give it. */
export interface Stop extends StopSignal {
  abort(): void;
}

class OneListenerStop implements Stop {
  aborted = false;
  private listener: (() => void) | null = null;

  addEventListener(_: 'abort', listener: () => void): void {
    this.listener = listener;
  }

  removeEventListener(): void {
    this.listener = null;
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.listener?.();
  }
}

export const createStop = (): Stop => new OneListenerStop();
