import { fleetBoard } from './fleet.ts';
import { healthBoard } from './health.ts';
import { sloBoard } from './slo.ts';
import { whyBoard } from './why.ts';

/** All boards with the names of their files in grafana/dashboards. */
export const boards = [
  { file: 'slo.json', dashboard: sloBoard },
  { file: 'why.json', dashboard: whyBoard },
  { file: 'fleet.json', dashboard: fleetBoard },
  { file: 'health.json', dashboard: healthBoard },
] as const;

/** Canonical form: the order of keys is the builder's, which is stable for a pinned version. */
export const renderBoard = (index: number): string => `${JSON.stringify(boards[index]?.dashboard, null, 2)}\n`;
