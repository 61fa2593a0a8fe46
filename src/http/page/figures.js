// A large figure with its name and a line or two of small print.

import { el } from './dom.js';

export const note = () => el('dd', { class: 'muted limit' });
export const figure = (name, ...notes) =>
  el('div', { class: 'figure' }, el('dt', { text: name }), el('dd'), note(), ...notes);
