// Runs in the browser. Finds what a reader who sees little, or nothing, would stumble over; answers with sentences.
(() => {
  const faults = [];
  const tell = (text, node) => faults.push(`${text}: ${node?.outerHTML?.slice(0, 120) ?? ''}`);
  const shown = (node) => node.checkVisibility({ opacityProperty: false }) && node.getClientRects().length > 0;

  function nameOf(node) {
    const by = node.getAttribute('aria-labelledby');
    if (by)
      return by
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? '')
        .join(' ')
        .trim();
    const label = node.getAttribute('aria-label') ?? node.labels?.[0]?.textContent ?? '';
    return (label || node.textContent || node.getAttribute('title') || '').trim();
  }

  for (const node of document.querySelectorAll(
    'button, a[href], input, [role="img"], dialog, section[aria-label], section[aria-labelledby]',
  )) {
    if (shown(node) && nameOf(node) === '') tell('has no name', node);
  }
  const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) tell(`id ${id} is there twice`);
  if (document.querySelectorAll('h1').length !== 1) tell('there is not exactly one h1');
  if (!document.documentElement.lang) tell('the page has no language');
  if (document.querySelectorAll('main').length !== 1) tell('there is not exactly one main');
  let level = 1;
  for (const heading of document.querySelectorAll('main h1, main h2, main h3')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) tell('a level of headings is left out', heading);
    level = next;
  }
  for (const table of document.querySelectorAll('table')) {
    if (table.querySelectorAll('th[scope]').length === 0) tell('a table without headings', table);
  }
  for (const node of document.querySelectorAll('[tabindex]'))
    if (node.tabIndex > 0) tell('a tab order of its own', node);
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
    tell('the page is wider than its window');

  const channel = (value) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  function groundOf(node) {
    for (let up = node; up !== null; up = up.parentElement) {
      const ground = parse(getComputedStyle(up).backgroundColor);
      if (ground.length === 3 || ground[3] === 1) return ground;
    }
    return parse(getComputedStyle(document.documentElement).backgroundColor);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  let texts = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (
      walker.currentNode.textContent.trim() === '' ||
      seen.has(node) ||
      !shown(node) ||
      node.closest('[aria-hidden="true"], script, style, noscript, title')
    )
      continue;
    seen.add(node);
    texts += 1;
    const style = getComputedStyle(node);
    const ink = parse(node.closest('svg') ? style.fill : style.color);
    const [high, low] = [luminance(ink), luminance(groundOf(node))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      tell(`contrast ${ratio.toFixed(2)} of "${node.textContent.trim().slice(0, 30)}"`, node);
  }
  return { faults, texts };
})();
