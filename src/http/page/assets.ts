import { readFileSync } from 'node:fs';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Files of the live page, served as they stand: there is no build step between them and the browser. */
export const PAGE_FILES = {
  'index.html': HTML,
  'icon.svg': 'image/svg+xml',
  'theme.css': CSS,
  'page.css': CSS,
  'cards.css': CSS,
  'charts.css': CSS,
  'main.js': SCRIPT,
  'format.js': SCRIPT,
  'dom.js': SCRIPT,
  'store.js': SCRIPT,
  'scale.js': SCRIPT,
  'chart.js': SCRIPT,
  'zone-band.js': SCRIPT,
  'over-time.js': SCRIPT,
  'figures.js': SCRIPT,
  'profiles.js': SCRIPT,
  'engine.js': SCRIPT,
  'panels.js': SCRIPT,
  'timeline.js': SCRIPT,
} as const;
export type PageFile = keyof typeof PAGE_FILES;

// Put in by the bundler (scripts/build.mjs), so that the shipped program is one file; absent when the sources run.
declare const __PAGE_FILES__: Readonly<Record<string, string>> | undefined;

/** The text of one of the page's files. */
export function readPageFile(name: PageFile): string {
  const bundled = typeof __PAGE_FILES__ === 'object' ? __PAGE_FILES__[name] : undefined;
  return bundled ?? readFileSync(new URL(name, import.meta.url), 'utf8');
}
