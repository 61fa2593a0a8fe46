import { existsSync } from 'node:fs';

const find = (variable: string, ...candidates: readonly string[]): string | null =>
  process.env[variable] ?? candidates.find((path) => existsSync(path)) ?? null;

/** The programs of the suite; null where one is not installed. */
export const programs = {
  prometheus: find('STACK_PROMETHEUS', '/usr/bin/prometheus'),
  promtool: find('STACK_PROMTOOL', '/usr/bin/promtool'),
  alertmanager: find('STACK_ALERTMANAGER', '/usr/bin/prometheus-alertmanager'),
  amtool: find('STACK_AMTOOL', '/usr/bin/amtool'),
  chromium: find('STACK_CHROMIUM', '/usr/bin/chromium'),
};

export const root = new URL('../../../', import.meta.url).pathname;

/** Says loudly what is left out. True when a program is missing. */
export function missing(name: keyof typeof programs): boolean {
  const gone = programs[name] === null;
  if (gone) console.warn(`SKIPPED: ${name} is not installed`);
  return gone;
}
