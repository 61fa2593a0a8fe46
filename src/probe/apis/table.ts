import { ProbeExporterError } from '../../errors.ts';
import type { ApiName } from '../outcome.ts';
import type { ApiDialect } from './api.ts';
import { chat } from './chat.ts';
import { completions } from './completions.ts';

const DIALECTS: Partial<Readonly<Record<ApiName, ApiDialect>>> = { completions, chat };

/** How to ask and to read `name`. */
export function apiDialect(name: ApiName): ApiDialect {
  const dialect = DIALECTS[name];
  if (dialect === undefined) throw new ProbeExporterError('INVARIANT', `no dialect for the API ${name}`);
  return dialect;
}
