/** Markup that was made by `element` and so cannot hold an unescaped character of the data. */
export interface Markup {
  readonly markup: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Control characters are not allowed in XML at all, escaped or not.
const FORBIDDEN = /[^\P{Cc}\n\t]/gu;

const escapeMarkup = (text: string): string =>
  text.replace(FORBIDDEN, '\uFFFD').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const NAME = /^[a-zA-Z][\w:-]*$/;

/** Three decimals are far finer than a pixel. */
const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 1000) / 1000) : escapeMarkup(value);

/**
 * One element. Strings among the children are text; an attribute that is null is left out.
 *
 * @param name of this program's own, never of the data
 */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | null>> = {},
  ...children: readonly (Markup | string | null)[]
): Markup {
  const given = Object.entries(attributes).filter(
    (pair): pair is [string, string | number] => pair[1] !== null && NAME.test(pair[0]),
  );
  const start = given.map(([key, value]) => ` ${key}="${attributeText(value)}"`).join('');
  const inside = children
    .map((child) => (child === null ? '' : typeof child === 'string' ? escapeMarkup(child) : child.markup))
    .join('');
  return { markup: `<${name}${start}>${inside}</${name}>` };
}

export const fragment = (...children: readonly (Markup | null)[]): Markup => ({
  markup: children.map((child) => child?.markup ?? '').join(''),
});
