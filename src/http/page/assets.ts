import { readFileSync } from 'node:fs';

/** Files of the live page, served as they stand: there is no build step between them and the browser. */
export const PAGE_FILES = {
  'index.html': 'text/html; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'main.js': 'text/javascript; charset=utf-8',
  'format.js': 'text/javascript; charset=utf-8',
  'dom.js': 'text/javascript; charset=utf-8',
  'store.js': 'text/javascript; charset=utf-8',
  'chart.js': 'text/javascript; charset=utf-8',
  'panels.js': 'text/javascript; charset=utf-8',
  'timeline.js': 'text/javascript; charset=utf-8',
} as const;
export type PageFile = keyof typeof PAGE_FILES;

// Put in by the bundler (scripts/build.mjs), so that the shipped program is one file; absent when the sources run.
declare const __PAGE_FILES__: Readonly<Record<string, string>> | undefined;

/** The text of one of the page's files. */
export function readPageFile(name: PageFile): string {
  const bundled = typeof __PAGE_FILES__ === 'object' ? __PAGE_FILES__[name] : undefined;
  return bundled ?? readFileSync(new URL(name, import.meta.url), 'utf8');
}
