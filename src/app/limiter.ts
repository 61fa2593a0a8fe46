/** Lets so many pieces of work run at the same time; the others wait their turn. */
export interface Limiter {
  /** @param urgent goes before all who wait and are not */
  run<T>(work: () => Promise<T>, urgent: boolean): Promise<T>;
}

export function createLimiter(most: number): Limiter {
  const urgentOnes: (() => void)[] = [];
  const others: (() => void)[] = [];
  let running = 0;

  const enter = (urgent: boolean): Promise<void> => {
    if (running < most) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => (urgent ? urgentOnes : others).push(resolve));
  };

  const leave = (): void => {
    const next = urgentOnes.shift() ?? others.shift();
    // The place goes on to the one who waits longest.
    if (next === undefined) running -= 1;
    else next();
  };

  return {
    async run(work, urgent) {
      await enter(urgent);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
