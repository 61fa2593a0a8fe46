/** Lets so many pieces of work run at the same time; the others wait their turn. */
export interface Limiter {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createLimiter(most: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;

  const enter = (): Promise<void> => {
    if (running < most) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };

  const leave = (): void => {
    const next = waiting.shift();
    // The place goes on to the one who waits longest.
    if (next === undefined) running -= 1;
    else next();
  };

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
