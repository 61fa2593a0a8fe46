// What the program uses of undici. The package's own entry also loads fetch, WebSocket, caches and mocks, half a
// megabyte that would have to be read and compiled at every start.
import api from '../../node_modules/undici/lib/api/index.js';
import Dispatcher from '../../node_modules/undici/lib/dispatcher/dispatcher.js';

export { default as Agent } from '../../node_modules/undici/lib/dispatcher/agent.js';
export { default as Client } from '../../node_modules/undici/lib/dispatcher/client.js';
export { default as EnvHttpProxyAgent } from '../../node_modules/undici/lib/dispatcher/env-http-proxy-agent.js';
export { default as ProxyAgent } from '../../node_modules/undici/lib/dispatcher/proxy-agent.js';

// The package's entry does this too: without it dispatchers have no `request`.
Object.assign(Dispatcher.prototype, api);
