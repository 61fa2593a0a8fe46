import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../src/config/expand.ts';
import { loadConfigFromEnvironment } from '../../../src/config/load.ts';
import { ConfigurationError, formatIssue } from '../../../src/config/report.ts';
import { memoryFiles, TARGET, warningsOf } from './support.ts';

const load = (environment: Environment) =>
  loadConfigFromEnvironment(environment, { files: memoryFiles({ '/s/key': 'sk-test-1\n' }) });
const issuesOf = (environment: Environment): readonly string[] => {
  try {
    return load(environment).issues.map(formatIssue);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues.map(formatIssue);
    throw error;
  }
};

describe('the form without a file', () => {
  it('needs nothing at all beside an engine on its usual port', () => {
    const { config, issues } = load({});
    expect(issues).toEqual([]);
    expect(config.source).toBe('environment');
    expect(config.targets).toHaveLength(1);
    expect(config.targets[0]).toMatchObject({
      name: 'engine',
      url: new URL('http://127.0.0.1:8000'),
      model: 'auto',
      api: 'auto',
      engine: 'auto',
      vantage: 'sidecar',
      apiKey: null,
    });
    expect(config.targets[0]?.profiles.map(({ profile }) => profile.name)).toEqual(['cold', 'warm']);
  });

  it('takes everything that one target needs', () => {
    const { config, issues } = load({
      INFERENCE_PROBE_TARGET_URL: 'http://localhost:30000/v1/',
      INFERENCE_PROBE_TARGET_NAME: 'sglang',
      INFERENCE_PROBE_MODEL: 'llama',
      INFERENCE_PROBE_API: 'chat',
      INFERENCE_PROBE_ENGINE: 'sglang',
      INFERENCE_PROBE_VANTAGE: 'gateway',
      INFERENCE_PROBE_API_KEY_FILE: '/s/key',
      INFERENCE_PROBE_METRICS_URL: 'http://localhost:30000/metrics',
      INFERENCE_PROBE_EVERY: '30s',
      INFERENCE_PROBE_PROMPT_TOKENS: '256',
      INFERENCE_PROBE_MAX_TOKENS: '64',
      INFERENCE_PROBE_TOKENS_PER_HOUR: '150000',
      INFERENCE_PROBE_TOKENS_PER_DAY: '3000000',
      INFERENCE_PROBE_SLO_TTFT: '1s',
      INFERENCE_PROBE_SLO_TPOT: '50ms',
      INFERENCE_PROBE_PAUSED: 'TRUE',
      INFERENCE_PROBE_LISTEN_ADDRESS: '127.0.0.1:9999',
      INFERENCE_PROBE_TELEMETRY_PATH: '/m',
      INFERENCE_PROBE_LOG_LEVEL: 'debug',
      INFERENCE_PROBE_LOG_FORMAT: 'logfmt',
    });
    expect(issues).toEqual([]);
    expect(config).toMatchObject({
      paused: true,
      web: { listenAddress: '127.0.0.1:9999', telemetryPath: '/m' },
      log: { level: 'debug', format: 'logfmt' },
    });
    const [target] = config.targets;
    expect(target).toMatchObject({
      name: 'sglang',
      url: new URL('http://localhost:30000/v1'),
      model: 'llama',
      api: 'chat',
      engine: 'sglang',
      vantage: 'gateway',
      metrics: { metricsUrl: new URL('http://localhost:30000/metrics') },
      budget: { tokensPerHour: 150_000, tokensPerDay: 3_000_000 },
      slo: { ttft: { thresholdSeconds: 1 }, tpot: { thresholdSeconds: 0.05 } },
    });
    expect(target?.apiKey?.reveal()).toBe('sk-test-1');
    expect(
      target?.profiles.map(({ profile, timetable }) => [
        profile.prefix,
        profile.promptTokens,
        profile.maxTokens,
        timetable.everySeconds,
      ]),
    ).toEqual([
      ['unique', 256, 64, 30],
      ['shared', 256, 64, 30],
    ]);
  });

  it('says which variable is wrong, once, in the same words as for a file', () => {
    expect(
      issuesOf({ INFERENCE_PROBE_EVERY: '15', INFERENCE_PROBE_API: 'grpc', INFERENCE_PROBE_MAX_TOKENS: 'few' }),
    ).toEqual([
      'INFERENCE_PROBE_EVERY: is not a duration: write a number with its unit, such as 500ms, 15s, 2m or 1h30m',
      'INFERENCE_PROBE_MAX_TOKENS: must be a whole number, not a string',
      expect.stringMatching(/^INFERENCE_PROBE_API: must be one of auto, completions/),
    ]);
  });

  it('never repeats a URL that holds a password', () => {
    const issues = issuesOf({ INFERENCE_PROBE_TARGET_URL: 'https://user:pw-9@gw.example/v1' });
    expect(issues).toEqual([
      expect.stringMatching(/^INFERENCE_PROBE_TARGET_URL: must not hold a user name or password/),
    ]);
    expect(issues.join()).not.toContain('pw-9');
  });

  it('takes a variable that is set to nothing for one that is not set', () => {
    expect(
      issuesOf({ INFERENCE_PROBE_MODEL: '', INFERENCE_PROBE_API_KEY_FILE: ' ', INFERENCE_PROBE_TARGETURL: '' }),
    ).toEqual([]);
  });

  it('warns of a variable that looks like one of its own', () => {
    expect(issuesOf({ INFERENCE_PROBE_TARGETURL: 'http://x' })).toEqual([
      'INFERENCE_PROBE_TARGETURL: warning: is not a variable of this program; did you mean INFERENCE_PROBE_TARGET_URL?',
    ]);
  });

  it('is not troubled by what Kubernetes puts in for a Service of its name', () => {
    const links = [
      'SERVICE_HOST',
      'SERVICE_PORT',
      'SERVICE_PORT_METRICS',
      'PORT',
      'PORT_20061_TCP',
      'PORT_20061_TCP_ADDR',
    ];
    expect(
      issuesOf(Object.fromEntries(links.map((name) => [`INFERENCE_PROBE_${name}`, 'tcp://10.0.0.1:20061']))),
    ).toEqual([]);
  });
});

describe('variables beside a file', () => {
  it('set what belongs to the process, and not the targets', () => {
    expect(
      warningsOf(TARGET, {
        environment: {
          INFERENCE_PROBE_LOG_LEVEL: 'debug',
          INFERENCE_PROBE_MODEL: 'x',
          INFERENCE_PROBE_CONFIG_FILE: 'y',
        },
      }),
    ).toEqual([
      'INFERENCE_PROBE_MODEL: warning: has no effect beside the configuration file /etc/probe/config.yml, which describes the targets',
    ]);
  });
});
