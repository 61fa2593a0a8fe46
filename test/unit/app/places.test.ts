import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../../src/app/places.ts';

describe('places of probes in flight', () => {
  it('G-175: are as many as the bound says, and one given back is free again', () => {
    const places = createPlaces(2);
    const first = places.take();
    expect(places.take()).not.toBeNull();
    expect(places.take()).toBeNull();
    first?.leave();
    expect(places.take()).not.toBeNull();
    expect(places.take()).toBeNull();
  });

  it('given back twice are free once', () => {
    const places = createPlaces(2);
    const [first] = [places.take(), places.take()];
    first?.leave();
    first?.leave();
    expect(places.take()).not.toBeNull();
    expect(places.take()).toBeNull();
  });

  it('have no bound without one, and a new bound holds for those who come', () => {
    const places = createPlaces(null);
    const taken = Array.from({ length: 50 }, () => places.take());
    expect(taken).not.toContain(null);
    places.configure(50);
    expect(places.take()).toBeNull();
    taken[0]?.leave();
    expect(places.take()).not.toBeNull();
    places.configure(null);
    expect(places.take()).not.toBeNull();
  });
});
