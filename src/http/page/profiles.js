// A card for each profile: its last figures, and its last probes as a strip.

import { byId, el, reconcile, setAttributes, setText } from './dom.js';
import { figure, note } from './figures.js';
import { describeProbe, formatAge, formatSeconds, formatTick, STATE_LINES, STATE_SIGNS, words } from './format.js';

function probeCell(probe, profile, onOpen) {
  const label = describeProbe(probe, profile);
  const state = probe.warmup ? 'warmup' : probe.state;
  const cell = el('button', {
    type: 'button',
    class: 'cell',
    'data-state': state,
    title: label,
    'aria-label': label,
    tabindex: -1,
    onclick: () => onOpen(probe.id),
  });
  cell.append(el('span', { class: 'cell-bar', 'aria-hidden': 'true', text: state === 'failing' ? '✕' : '' }));
  return cell;
}

/** Height of a probe in the strip in steps of a tenth: 40 % of it is the threshold. */
function cellLevel(probe, threshold) {
  if (probe.state === 'failing') return 10;
  const share = Math.log1p((probe.ttft ?? 0) / threshold) / Math.log1p(6);
  return Math.max(1, Math.min(10, Math.round(share * 10)));
}

/** Arrow keys walk along the strip; only one of its probes is in the order of tabs. */
function walk(event) {
  const cells = [...event.currentTarget.children];
  const index = cells.indexOf(document.activeElement);
  const steps = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: cells.length - 1 };
  const next = cells[steps[event.key]];
  if (next === undefined) return;
  event.preventDefault();
  for (const cell of cells) cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function profileCard(profile) {
  const strip = el('div', {
    class: 'strip',
    role: 'group',
    'aria-label': `Last probes of ${profile.name}, oldest first. Arrow keys move, Enter opens.`,
    onkeydown: walk,
  });
  return el(
    'article',
    { class: 'profile card', 'aria-label': `Profile ${profile.name}` },
    el('div', { class: 'card-head' }, el('h2', { text: profile.name }), el('span', { class: 'pill' })),
    el('p', { class: 'muted small' }),
    el('dl', { class: 'figures' }, figure('TTFT', note()), figure('TPOT', note())),
    strip,
  );
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)];
};

/** The last value beside its objective; of a failed probe the reason stands there instead. */
function fillFigure(node, last, value, values, threshold) {
  const over = value !== null && value > threshold;
  const failed = value === null && last?.reason ? `✕ ${words(last.reason)}` : '';
  setText(node.children[1], formatSeconds(value));
  setAttributes(node, { 'data-over': over ? 'yes' : 'no' });
  setText(node.children[2], value === null ? failed : `${over ? '▲ over' : 'within'} ${formatTick(threshold)}`);
  setText(node.children[3], values.length === 0 ? '' : `median ${formatSeconds(median(values))}`);
}

const known = (probes, key) => probes.map((probe) => probe[key]).filter((value) => value !== null);

export function renderProfiles(live, store, onOpen) {
  const { detail } = live;
  reconcile(
    byId('profiles'),
    detail.profiles,
    ({ name }) => name,
    profileCard,
    (card, profile) => {
      const [head, line, figures, strip] = card.children;
      const probes = (store.probes.get(profile.name) ?? []).slice(-60);
      const counting = probes.filter((probe) => !probe.warmup);
      const last = counting.at(-1) ?? null;
      const key = profile.state?.state ?? 'none';
      const kind = profile.prefix === 'shared' ? 'shared prefix, warm cache' : 'unique prefix, full prefill';
      setText(line, profile.everySeconds === null ? kind : `${kind} · every ${formatAge(profile.everySeconds)}`);
      setText(head.children[1], `${STATE_SIGNS[key]} ${STATE_LINES[key]}`);
      setAttributes(head.children[1], { 'data-state': key });
      fillFigure(figures.children[0], last, last?.ttft ?? null, known(counting, 'ttft'), detail.thresholds.ttft);
      fillFigure(figures.children[1], last, last?.tpot ?? null, known(counting, 'tpot'), detail.thresholds.tpot);
      reconcile(
        strip,
        probes,
        ({ id }) => id,
        (probe) => probeCell(probe, profile.name, onOpen),
        (cell, probe) => {
          setAttributes(cell.firstElementChild, { class: `cell-bar h${cellLevel(probe, detail.thresholds.ttft)}` });
        },
      );
      const cells = [...strip.children];
      if (cells.length > 0 && !cells.some((cell) => cell.tabIndex === 0)) cells.at(-1).tabIndex = 0;
    },
  );
}
