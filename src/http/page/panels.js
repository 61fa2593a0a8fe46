// The state of the targets, the last bad probe and the newest ones. Nodes that stay are kept, and focus with them.

import { byId, el, fillTerms, reconcile, setAttributes, setText } from './dom.js';
import {
  causeName,
  causeSentence,
  describeProbe,
  evidenceRows,
  formatClock,
  formatSeconds,
  plural,
  STATE_LINES,
  STATE_SIGNS,
  STATE_WORDS,
  words,
} from './format.js';

/** State, paused and asleep of a target in one key. */
function stateKey(target) {
  if (target.paused) return 'paused';
  if (target.engine?.asleep) return 'asleep';
  return target.state ?? 'none';
}
export function renderTargets(live, selected, onSelect) {
  const section = byId('targets');
  section.hidden = live.targets.length < 2;
  reconcile(
    section,
    live.targets,
    ({ name }) => name,
    ({ name }) =>
      el(
        'button',
        { type: 'button', class: 'target', onclick: () => onSelect(name) },
        el('span', { class: 'sign', 'aria-hidden': 'true' }),
        el('span', { class: 'target-name', text: name }),
        el('span', { class: 'muted' }),
      ),
    (node, target) => {
      const key = stateKey(target);
      setAttributes(node, { 'data-state': key, 'aria-pressed': target.name === selected });
      setText(node.children[0], STATE_SIGNS[key]);
      setText(node.children[2], target.engine?.zone ? `${STATE_LINES[key]}, ${target.engine.zone}` : STATE_LINES[key]);
    },
  );
}

export function renderHero(live) {
  const { detail } = live;
  const target = live.targets.find(({ name }) => name === detail.name);
  const key = stateKey(target);
  setText(byId('target-name'), target.name);
  setAttributes(byId('state'), { 'data-state': key });
  setText(byId('state'), `${STATE_SIGNS[key]} ${STATE_LINES[key]}`);
  const counted = target.since === null ? '' : `since ${formatClock(target.since)}, ${plural(target.probes, 'probe')}`;
  setText(byId('since'), counted);
  const { engine } = detail;
  const kept = [
    ['Model', detail.model ?? 'not known yet'],
    ['Engine', engine === null ? 'no metrics' : `${engine.name} ${engine.version ?? ''}`.trim()],
    ['Seen from', target.vantage],
  ];
  fillTerms(byId('facts'), kept);
  document.title = `${STATE_SIGNS[key]} ${target.name} · inference-probe`;
}
export function renderBad(live, onOpen) {
  const body = byId('bad-body');
  const bad = live.detail.lastBad;
  const key = bad?.id ?? 'none';
  if (body.dataset.shown === key) return;
  body.dataset.shown = key;
  if (bad === null) {
    body.replaceChildren(el('p', { class: 'muted', text: 'None of the probes that are kept was slow or failed.' }));
    return;
  }
  const what =
    bad.reason === null ? `TTFT ${formatSeconds(bad.ttft)}, TPOT ${formatSeconds(bad.tpot)}` : words(bad.reason);
  const terms = el('dl', { class: 'terms' });
  fillTerms(terms, evidenceRows(bad.evidence));
  body.replaceChildren(
    el('p', {
      class: 'bad-cause',
      text: bad.cause === null ? 'No engine metrics to explain it' : causeName(bad.cause),
    }),
    ...(bad.cause === null ? [] : [el('p', { text: causeSentence(bad.cause, bad.evidence) })]),
    el('p', {
      class: 'muted',
      text: `${formatClock(bad.at)} · ${bad.profile} · ${STATE_SIGNS[bad.state]} ${STATE_WORDS[bad.state].toLowerCase()}: ${what}`,
    }),
    terms,
    el('button', { type: 'button', class: 'plain', text: 'Open its timeline', onclick: () => onOpen(bad.id) }),
  );
}
export function renderRecent(live, store, onOpen) {
  const body = byId('recent-body');
  const all = live.detail.profiles.flatMap(({ name }) =>
    (store.probes.get(name) ?? []).map((probe) => ({ probe, name })),
  );
  const newest = all.sort((a, b) => b.probe.order - a.probe.order).slice(0, 15);
  let table = body.querySelector('table');
  if (table === null) {
    const heads = ['Time', 'Profile', 'TTFT', 'TPOT', 'Result'].map((text) => el('th', { scope: 'col', text }));
    table = el('table', {}, el('thead', {}, el('tr', {}, ...heads)), el('tbody'));
    body.replaceChildren(table);
  }
  reconcile(
    table.tBodies[0],
    newest,
    ({ probe }) => probe.id,
    ({ probe, name }) => {
      const result = probe.warmup
        ? 'warm-up'
        : (probe.reason ?? (probe.state === 'good' ? 'good' : (probe.cause ?? 'slow')));
      const open = el('button', {
        type: 'button',
        class: 'link',
        text: formatClock(probe.at),
        'aria-label': `Open the timeline of ${describeProbe(probe, name)}`,
        onclick: () => onOpen(probe.id),
      });
      const sign = el('span', {
        class: 'sign',
        'data-state': probe.warmup ? 'none' : probe.state,
        'aria-hidden': 'true',
        text: `${STATE_SIGNS[probe.warmup ? 'none' : probe.state]} `,
      });
      return el(
        'tr',
        {},
        el('td', {}, open),
        el('td', { text: name }),
        el('td', { class: 'number', text: formatSeconds(probe.ttft) }),
        el('td', { class: 'number', text: formatSeconds(probe.tpot) }),
        el('td', {}, sign, words(result)),
      );
    },
  );
}
