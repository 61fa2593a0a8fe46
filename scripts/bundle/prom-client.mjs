// What the program uses of prom-client. The package's own entry also loads quantile digests, the cluster and gateway
// clients, and the default metrics with the API of OpenTelemetry.
export { default as Counter } from '../../node_modules/prom-client/lib/counter.js';
export { default as Histogram } from '../../node_modules/prom-client/lib/histogram.js';
