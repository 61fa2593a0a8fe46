/** A place that a probe in flight takes. */
export interface Place {
  /** Gives it back; once is enough, and more do no harm. */
  leave(): void;
}

/** Bounds how many probes are in flight. Nobody waits for a place: a probe that starts late measures another moment. */
export interface Places {
  /** Null when all are taken. */
  take(): Place | null;
  /** Probes in flight keep their places, even beyond a lower bound. */
  configure(most: number | null): void;
}

/** @param most null: no bound */
export function createPlaces(most: number | null): Places {
  const taken = new Set<Place>();
  let bound = most;
  return {
    take() {
      if (bound !== null && taken.size >= bound) return null;
      const place: Place = { leave: () => void taken.delete(place) };
      taken.add(place);
      return place;
    },
    configure(next) {
      bound = next;
    },
  };
}
