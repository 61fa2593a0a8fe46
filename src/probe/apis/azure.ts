import { readErrorBody } from '../error-object.ts';
import type { ApiDialect } from './api.ts';
import { readChatDelta } from './chat.ts';
import { OPENAI_OPTIONAL_PARAMETERS, openAiBody, openAiReading, SSE_TYPES } from './openai.ts';
import { basePath, withPath } from './urls.ts';

/** The last generally available version that is addressed by deployment; a version in the target's URL wins. */
const DEFAULT_API_VERSION = '2024-10-21';
const ENDPOINT = '/chat/completions';

/**
 * The model is the deployment and lies in the path. A base that already names a deployment, or Azure's newer
 * `/openai/v1`, is taken as it is.
 */
function azureUrl(base: URL, model: string): URL {
  const path = basePath(base);
  if (path.endsWith(ENDPOINT)) return withVersion(base, path);
  if (path.endsWith('/openai/v1')) return withPath(base, path + ENDPOINT);
  if (path.includes('/deployments/')) return withVersion(base, path + ENDPOINT);
  const root = path.replace(/\/openai$/, '');
  return withVersion(base, `${root}/openai/deployments/${encodeURIComponent(model)}${ENDPOINT}`);
}

function withVersion(base: URL, path: string): URL {
  const url = withPath(base, path);
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', DEFAULT_API_VERSION);
  return url;
}

/** Azure OpenAI: chat completions with another address, another key header and content filter frames in between. */
export const azure: ApiDialect = {
  name: 'azure',
  url: azureUrl,
  authHeaders: (key) => (key === null ? {} : { 'api-key': key }),
  streamTypes: SSE_TYPES,
  body: (ask) => openAiBody(ask, { messages: [{ role: 'user', content: ask.prompt }] }),
  optionalParameters: OPENAI_OPTIONAL_PARAMETERS,
  createReading: openAiReading(readChatDelta),
  readErrorBody,
};
