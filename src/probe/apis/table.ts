import type { ApiName } from '../outcome.ts';
import type { ApiDialect } from './api.ts';
import { azure } from './azure.ts';
import { chat } from './chat.ts';
import { completions } from './completions.ts';
import { llamacpp } from './llamacpp.ts';
import { messages } from './messages.ts';
import { ollama } from './ollama.ts';
import { responses } from './responses.ts';
import { sglang } from './sglang.ts';
import { tgi } from './tgi.ts';

const DIALECTS: Readonly<Record<ApiName, ApiDialect>> = {
  completions,
  chat,
  responses,
  messages,
  azure,
  sglang,
  tgi,
  llamacpp,
  ollama,
};

/** How to ask and to read `name`. */
export const apiDialect = (name: ApiName): ApiDialect => DIALECTS[name];
