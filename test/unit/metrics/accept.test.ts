import { describe, expect, it } from 'vitest';
import { negotiate } from '../../../src/metrics/accept.ts';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('the format of the page', () => {
  it.each([
    { id: 'Prometheus 2', accept: PROMETHEUS_2, format: 'openmetrics' },
    { id: 'Prometheus 3', accept: PROMETHEUS_3, format: 'openmetrics' },
    { id: 'curl', accept: '*/*', format: 'text' },
    { id: 'nothing said', accept: '', format: 'text' },
    { id: 'a browser', accept: 'text/html,application/xhtml+xml,*/*;q=0.8', format: 'text' },
    { id: 'text preferred', accept: 'application/openmetrics-text;q=0.2,text/plain;q=0.9', format: 'text' },
    { id: 'no version', accept: 'application/openmetrics-text', format: 'openmetrics' },
    { id: 'a version that we do not speak', accept: 'application/openmetrics-text;version=0.0.1', format: 'text' },
    { id: 'refused', accept: 'application/openmetrics-text;q=0', format: 'text' },
    { id: 'upper case', accept: 'APPLICATION/OpenMetrics-Text; Version=1.0.0', format: 'openmetrics' },
    { id: 'quality that is no number', accept: 'application/openmetrics-text;q=x', format: 'text' },
    { id: 'protobuf only', accept: 'application/vnd.google.protobuf', format: 'text' },
  ])('$id: $format', ({ accept, format }) => {
    expect(negotiate(accept)).toBe(format);
  });
});
