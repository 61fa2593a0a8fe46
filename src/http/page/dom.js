// The document. Text goes in as text, never as markup: names and messages come from elsewhere.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') node.textContent = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

/** Changes text only when it differs, so that a live region speaks only of changes. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = value === null || value === undefined ? null : String(value);
    if (text === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Makes the children of `parent` those of `items`, keeping the nodes (and the focus) of items that stay. */
export function reconcile(parent, items, keyOf, create, update) {
  const old = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  let previous = null;
  for (const item of items) {
    const key = String(keyOf(item));
    let node = old.get(key);
    old.delete(key);
    if (node === undefined) {
      node = create(item);
      node.dataset.key = key;
    }
    update?.(node, item);
    const wanted = previous === null ? parent.firstElementChild : previous.nextElementSibling;
    if (node !== wanted) parent.insertBefore(node, wanted);
    previous = node;
  }
  for (const node of old.values()) node.remove();
}

/** A list of terms and values, updated in place. */
export function fillTerms(list, rows) {
  reconcile(
    list,
    rows,
    ([term]) => term,
    ([term]) => el('div', {}, el('dt', { text: term }), el('dd')),
    (node, [, value]) => setText(node.lastElementChild, value),
  );
}
