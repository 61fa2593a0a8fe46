// What the page knows: the answers of /api/live put together. Nothing here knows the document.

export const KEPT_SECONDS = 900;

/** A store that has seen nothing. */
export const emptyStore = () => ({
  run: null,
  target: null,
  order: 0,
  at: 0,
  live: null,
  probes: new Map(),
  points: [],
});

/** The question that asks for what the store does not have yet. */
export function liveQuery(store, target) {
  const known = store.target !== null && (target === null || target === store.target);
  const query = new URLSearchParams();
  if (target !== null) query.set('target', target);
  if (known && store.order > 0) query.set('order', String(store.order));
  if (known && store.at > 0) query.set('at', String(store.at));
  const text = query.toString();
  return `api/live${text === '' ? '' : `?${text}`}`;
}

function mergeProbes(known, added, oldest) {
  const byId = new Map([...known, ...added].map((probe) => [probe.id, probe]));
  return [...byId.values()].filter((probe) => probe.at >= oldest).sort((a, b) => a.order - b.order);
}

function mergePoints(known, added, oldest) {
  const last = known.at(-1)?.[0] ?? 0;
  const fresh = added.filter(([at]) => at > last);
  return [...known, ...fresh].filter(([at]) => at >= oldest);
}

/**
 * Takes in an answer. Another run of the exporter or another target starts from nothing; the answer is then incomplete
 * when the question named an order, which `stale` says.
 */
export function mergeLive(store, live, asked) {
  const { detail } = live;
  const name = detail?.name ?? null;
  const same = store.run === live.run && store.target === name;
  if (!same && asked.order > 0 && name !== null) return { store: emptyStore(), stale: true };
  const base = same ? store : emptyStore();
  const oldest = live.now - KEPT_SECONDS;
  const probes = new Map();
  let order = base.order;
  for (const profile of detail?.profiles ?? []) {
    const merged = mergeProbes(base.probes.get(profile.name) ?? [], profile.probes, oldest);
    probes.set(profile.name, merged);
    order = Math.max(order, merged.at(-1)?.order ?? 0);
  }
  const points = mergePoints(base.points, detail?.points ?? [], oldest);
  return {
    store: { run: live.run, target: name, order, at: points.at(-1)?.[0] ?? 0, live, probes, points },
    stale: false,
  };
}

/** Preemptions that happened in each step of `stepSeconds`, from a counter that never falls. */
export function preemptionSteps(points, stepSeconds) {
  const steps = new Map();
  let before = null;
  for (const [at, , , , total] of points) {
    if (total !== null && before !== null && total > before) {
      const step = Math.floor(at / stepSeconds) * stepSeconds;
      steps.set(step, (steps.get(step) ?? 0) + total - before);
    }
    if (total !== null) before = total;
  }
  return [...steps].map(([at, count]) => ({ at, count }));
}

/** Unbroken stretches of one zone. */
export function zoneStretches(points) {
  const stretches = [];
  for (const [at, , , , , , zone] of points) {
    const last = stretches.at(-1);
    if (last !== undefined && last.zone === zone && at - last.to < 15) last.to = at;
    else if (zone !== null)
      stretches.push({ zone, from: last !== undefined && at - last.to < 15 ? last.to : at, to: at });
  }
  return stretches;
}

/** Values of one column of the points, with a hole wherever something is missing. */
export function lineOf(points, column) {
  const line = [];
  let before = null;
  for (const point of points) {
    const at = point[0];
    const value = point[column];
    if (before !== null && at - before > 15) line.push([at, null]);
    line.push([at, value]);
    before = at;
  }
  return line;
}

/** Values of probes over time; broken where several ticks in a row brought none, so that an outage is no calm line. */
export function probeLine(probes, key, everySeconds) {
  const longest = Math.max(20, 3 * (everySeconds ?? 60));
  const line = [];
  for (const probe of probes.filter((one) => !one.warmup)) {
    if (line.length > 0 && probe.at - line.at(-1)[0] > longest) line.push([probe.at, null]);
    line.push([probe.at, probe[key]]);
  }
  return line;
}

/** Start of the time axis: not further back than there is anything to see, and never less than two minutes. */
export function axisStart(store, to, rangeSeconds) {
  const firsts = [...store.probes.values()].map((probes) => probes[0]?.at ?? to);
  const oldest = Math.min(to, store.points[0]?.[0] ?? to, ...firsts);
  return to - Math.min(rangeSeconds, Math.max(120, (to - oldest) * 1.04));
}
