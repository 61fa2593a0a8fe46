// The load zone over time.

import { el, svg } from './dom.js';
import { GUTTER } from './scale.js';

const ZONE_LEVEL = { underload: 1, knee: 2, overload: 3 };

/** The load zone as a band: its height, its pattern and its word all say the same. */
export function createZoneBand() {
  const root = svg('svg', { class: 'chart-svg', role: 'img' });
  const node = el('figure', { class: 'chart zone-chart' }, el('figcaption', {}, el('h3', { text: 'Load zone' })), root);
  const height = 48;
  function update(stretches, view, current) {
    const width = Math.max(240, Math.round(node.clientWidth));
    const x = (at) =>
      GUTTER.left +
      ((Math.max(at, view.from) - view.from) / (view.to - view.from)) * (width - GUTTER.left - GUTTER.right);
    root.setAttribute('viewBox', `0 0 ${width} ${height}`);
    root.setAttribute('height', height);
    root.setAttribute('aria-label', `Load zone: now ${current ?? 'not known'}.`);
    root.replaceChildren();
    for (const { zone, from, to } of stretches.filter((stretch) => stretch.to > view.from)) {
      const level = ZONE_LEVEL[zone] ?? 1;
      const px = x(from);
      const wide = Math.max(1.5, x(to) - px);
      const tall = level * 8;
      root.append(
        svg('rect', {
          x: px.toFixed(1),
          y: 26 - tall,
          width: wide.toFixed(1),
          height: tall,
          class: `zone zone-${zone}`,
        }),
      );
      if (wide > 62) root.append(svg('text', { x: px + 6, y: 41, class: 'tick', text: zone }));
    }
    root.append(svg('line', { x1: GUTTER.left, x2: width - GUTTER.right, y1: 26.5, y2: 26.5, class: 'grid strong' }));
    if (view.hover !== null) {
      const px = x(view.hover).toFixed(1);
      root.append(svg('line', { x1: px, x2: px, y1: 0, y2: 27, class: 'reading' }));
    }
  }
  return { node, update };
}
