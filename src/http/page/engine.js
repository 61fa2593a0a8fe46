// What the engine says of itself.

import { byId, fillTerms, reconcile, setAttributes, setText } from './dom.js';
import { figure } from './figures.js';
import { formatAge, formatCount, formatPercent, NOTHING, STATE_SIGNS } from './format.js';

const ZONE_SIGNS = { underload: '▁', knee: '▄', overload: '█' };
const ZONE_STATES = { underload: 'good', knee: 'slow', overload: 'failing' };
const ZONE_LINES = {
  underload: 'Room to spare: nothing waits for admission.',
  knee: 'Requests wait now and then; none is preempted yet.',
  overload: 'Requests are preempted, or wait while the KV cache is full.',
};

/** What the engine is, in a pill and a line: its zone, unless something worse holds. */
function engineVerdict(engine) {
  if (engine.asleep)
    return ['none', `${STATE_SIGNS.asleep} asleep`, 'The engine says that it sleeps; probes wait for it to wake.'];
  if (!engine.up) return ['failing', '✕ no metrics', engine.error ?? 'Its metrics cannot be read.'];
  if (engine.hung) return ['failing', '✕ hung', 'Requests are in the engine, but its token counters stand still.'];
  if (engine.zone === null) return ['none', '○ no zone yet', 'Watching until the load zone can be told.'];
  return [ZONE_STATES[engine.zone], `${ZONE_SIGNS[engine.zone]} ${engine.zone}`, ZONE_LINES[engine.zone]];
}

const peakLine = (peak, format) => (peak === null ? '' : `peak ${format(peak)}`);

export function renderEngine(live) {
  const { engine, kvRoom: room } = live.detail;
  byId('engine').hidden = engine === null;
  if (engine === null) return;
  const [state, pill, line] = engineVerdict(engine);
  setText(byId('engine-title'), engine.name === 'unknown' ? 'engine' : engine.name);
  setAttributes(byId('engine-pill'), { 'data-state': state });
  setText(byId('engine-pill'), pill);
  setText(byId('engine-line'), line);
  const figures = [
    ['KV cache', formatPercent(engine.kvUsage), peakLine(engine.kvUsagePeak, formatPercent)],
    ['Running', formatCount(engine.running), peakLine(engine.runningPeak, formatCount)],
    ['Waiting', formatCount(engine.waiting), peakLine(engine.waitingPeak, formatCount)],
  ];
  reconcile(
    byId('engine-figures'),
    figures,
    ([name]) => name,
    ([name]) => figure(name),
    (node, [, value, peak]) => {
      setText(node.children[1], value);
      setText(node.children[2], peak);
    },
  );
  const read = engine.lastPollAt === null ? NOTHING : `${formatAge(Math.max(0, live.now - engine.lastPollAt))} ago`;
  const terms = [
    ['preemptions', formatCount(engine.preemptions)],
    ['restarts', formatCount(engine.restarts)],
    ['KV capacity', room === null ? NOTHING : `${formatCount(room.capacityTokens)} tokens`],
    [
      'room for',
      room === null ? NOTHING : `${formatCount(room.requestsThatFit)} × ${formatCount(room.requestTokens)} tokens`,
    ],
    ['read', read],
  ];
  fillTerms(
    byId('engine-terms'),
    terms.filter(([, value]) => value !== NOTHING),
  );
}
