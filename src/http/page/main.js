// The live page: asks every second and a half, draws what is new, and says so when there is nothing new.

import { byId, setAttributes, setText } from './dom.js';
import { renderEngine } from './engine.js';
import { formatAge } from './format.js';
import { mountCharts, renderCharts } from './over-time.js';
import { renderBad, renderHero, renderRecent, renderTargets } from './panels.js';
import { renderProfiles } from './profiles.js';
import { GUTTER } from './scale.js';
import { axisStart, emptyStore, liveQuery, mergeLive } from './store.js';
import { mountTimeline, openTimeline } from './timeline.js';

const EVERY_MS = 1500;
const OLD_AFTER_SECONDS = 6;

const page = {
  store: emptyStore(),
  target: decodeURIComponent(location.hash.slice(1)) || null,
  range: 900,
  hover: null,
  answeredAt: null,
  failed: false,
  timer: null,
  asking: false,
};

const secondsNow = () => performance.now() / 1000;

/** Server time, moved on by the time since it was told. */
function serverNow() {
  return page.store.live.now + (secondsNow() - page.answeredAt);
}

function drawCharts() {
  const { live } = page.store;
  if (live === null || live.detail === null) return;
  const to = serverNow();
  const from = axisStart(page.store, to, page.range);
  const hover = page.hover === null ? null : from + page.hover * (to - from);
  renderCharts(live, page.store, { from, to, hover });
}

function drawAll() {
  const { live } = page.store;
  setText(byId('version'), live.version === '' ? '' : `v${live.version}`);
  byId('metrics-link').setAttribute('href', live.telemetryPath.replace(/^\//, ''));
  if (live.detail === null) {
    setText(byId('target-name'), 'No targets are configured');
    return;
  }
  renderTargets(live, live.detail.name, select);
  renderHero(live);
  renderProfiles(live, page.store, openTimeline);
  renderBad(live, openTimeline);
  renderEngine(live);
  renderRecent(live, page.store, openTimeline);
  drawCharts();
}

function drawFreshness() {
  const node = byId('freshness');
  const age = page.answeredAt === null ? null : secondsNow() - page.answeredAt;
  if (age === null) {
    setAttributes(node, { 'data-fresh': page.failed ? 'old' : 'waiting' });
    setText(byId('freshness-text'), page.failed ? 'no answer from the exporter' : 'connecting');
  } else if (age > OLD_AFTER_SECONDS) {
    setAttributes(node, { 'data-fresh': 'old' });
    setText(byId('freshness-text'), `data is ${formatAge(age)} old${page.failed ? ', no answer' : ''}`);
  } else {
    setAttributes(node, { 'data-fresh': 'live' });
    setText(byId('freshness-text'), 'live');
  }
  document.body.classList.toggle('is-old', age !== null && age > OLD_AFTER_SECONDS);
}

async function ask() {
  const asked = { order: page.store.target === (page.target ?? page.store.target) ? page.store.order : 0 };
  const wanted = page.target;
  const response = await fetch(liveQuery(page.store, wanted), { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const live = await response.json();
  // Another target was chosen meanwhile.
  if (wanted !== page.target) return;
  const merged = mergeLive(page.store, live, asked);
  page.store = merged.store;
  if (merged.stale) return;
  page.answeredAt = secondsNow();
  drawAll();
}

async function tick() {
  clearTimeout(page.timer);
  if (document.hidden || page.asking) return;
  page.asking = true;
  try {
    await ask();
    page.failed = false;
  } catch {
    page.failed = true;
  }
  page.asking = false;
  drawFreshness();
  page.timer = setTimeout(() => void tick(), EVERY_MS);
}

function select(name) {
  page.target = name;
  history.replaceState(null, '', `#${encodeURIComponent(name)}`);
  page.store = { ...emptyStore() };
  void tick();
}

function setHover(share) {
  page.hover = share === null ? null : Math.max(0, Math.min(1, share));
  drawCharts();
}

function mountHover() {
  const charts = byId('charts');
  charts.addEventListener('pointermove', (event) => {
    const box = charts.getBoundingClientRect();
    setHover((event.clientX - box.left - GUTTER.left) / (box.width - GUTTER.left - GUTTER.right));
  });
  charts.addEventListener('pointerleave', () => setHover(null));
  // The same line for the keyboard: all the way to the right there is none.
  const reading = byId('reading');
  reading.addEventListener('input', () => setHover(reading.value === reading.max ? null : reading.value / reading.max));
}

function mountRange() {
  const buttons = [...document.querySelectorAll('[data-range]')];
  for (const button of buttons) {
    button.addEventListener('click', () => {
      page.range = Number(button.dataset.range);
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      drawCharts();
    });
  }
}

mountCharts();
mountHover();
mountRange();
mountTimeline();
document.addEventListener('visibilitychange', () => void tick());
new ResizeObserver(drawCharts).observe(byId('charts'));
setInterval(drawFreshness, 1000);
void tick();
