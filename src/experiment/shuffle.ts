import { createRandom } from './random.ts';

/** The items in an order that follows from the seed (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], seed: string): readonly T[] {
  const random = createRandom(seed);
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [order[last], order[other]];
    if (a !== undefined && b !== undefined) {
      order[last] = b;
      order[other] = a;
    }
  }
  return order;
}
