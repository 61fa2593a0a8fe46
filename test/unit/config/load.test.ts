import { describe, expect, it } from 'vitest';
import { loadConfigFile } from '../../../src/config/load.ts';
import { ConfigurationError } from '../../../src/config/report.ts';
import { firstTarget, issuesOf, loadText, memoryFiles, TARGET, warningsOf } from './support.ts';

describe('defaults', () => {
  it('complete a target of which only name and URL are given, without a warning', () => {
    const { config, issues } = loadText(TARGET);
    expect(issues).toEqual([]);
    expect(config).toMatchObject({
      source: '/etc/probe/config.yml',
      log: { level: 'info', format: 'json' },
      web: {
        listenAddress: ':20061',
        telemetryPath: '/metrics',
        webConfigFile: null,
        enablePause: false,
        enableReload: true,
      },
      paused: false,
      disturbedAfterSeconds: 0.02,
      traceparent: false,
      mostParallelProbes: null,
    });
    expect(config.targets).toHaveLength(1);
    expect(config.targets[0]).toMatchObject({
      name: 'a',
      model: 'auto',
      api: 'auto',
      engine: 'auto',
      vantage: 'sidecar',
      apiKey: null,
      paused: false,
      warmupProbes: 1,
      kvCache: null,
      metrics: {
        enabled: true,
        metricsUrl: null,
        everySeconds: null,
        staleAfterSeconds: 10,
        peakWindowSeconds: 60,
        hangAfterSeconds: 20,
        maxBytes: 33_554_432,
        exportHistograms: false,
      },
      slo: {
        availability: { objectiveRatio: 0.99 },
        ttft: { thresholdSeconds: 2, objectiveRatio: 0.95 },
        tpot: { thresholdSeconds: 0.1, objectiveRatio: 0.95 },
      },
      budget: { tokensPerHour: 100_000, tokensPerDay: 2_000_000 },
    });
  });

  it('are two profiles, cold and warm, of which a slow probe makes ticks be skipped', () => {
    const { profiles } = firstTarget(TARGET);
    expect(profiles.map(({ profile, timetable }) => [profile.name, profile.prefix, timetable.everySeconds])).toEqual([
      ['cold', 'unique', 15],
      ['warm', 'shared', 15],
    ]);
    expect(profiles[0]?.profile).toMatchObject({
      promptTokens: 128,
      maxTokens: 32,
      connection: 'reuse',
      ignoreEos: 'auto',
      temperature: 0,
      deadlines: {
        connectSeconds: 5,
        headersSeconds: 30,
        firstTokenSeconds: 30,
        betweenTokensSeconds: 10,
        totalSeconds: 60,
      },
      expect: { minTokens: null, pattern: null, answer: null, detectDegenerate: false },
    });
  });

  it('of deadlines follow the ones that are written', () => {
    const deadlines = (text: string) =>
      firstTarget(`profiles: [{name: c, every: 5m, deadlines: {${text}}}]\n${TARGET}`).profiles[0]?.profile.deadlines;
    expect(deadlines('total: 8s')).toMatchObject({ headersSeconds: 8, firstTokenSeconds: 8, betweenTokensSeconds: 8 });
    expect(deadlines('first_token: 3s')).toMatchObject({
      headersSeconds: 3,
      firstTokenSeconds: 3,
      betweenTokensSeconds: 10,
    });
    expect(deadlines('total: 4m, first_token: 2m')).toMatchObject({ headersSeconds: 30, firstTokenSeconds: 120 });
  });

  it('of staleness, peaks and hangs follow a slow poll', () => {
    expect(firstTarget(`metrics: {every: 90s}\n${TARGET}`).metrics).toMatchObject({
      staleAfterSeconds: 270,
      peakWindowSeconds: 90,
      hangAfterSeconds: 270,
    });
  });

  it('name the vantage after where the endpoint is', () => {
    expect(firstTarget('targets: [{name: a, url: "http://[::1]:8000"}]').vantage).toBe('sidecar');
    expect(firstTarget('targets: [{name: a, url: "https://gw.example/v1"}]').vantage).toBe('remote');
  });
});

describe('inheritance', () => {
  it('takes each key from the target, else from the top, else from the defaults', () => {
    const text = `slo: {ttft: {threshold: 3s, objective: 0.98}, availability: {objective: 0.98}}
budget: {tokens_per_hour: 200000}
connection: {family: 4, address_attempt: 2s}
metrics: {every: 2s, histograms: true}
${TARGET}    slo: {ttft: {threshold: 1s}}
    budget: {tokens_per_day: 3000000}
    connection: {family: 6}
    metrics: {every: 3s, url: "http://127.0.0.1:9000/metrics"}
`;
    expect(firstTarget(text)).toMatchObject({
      slo: {
        availability: { objectiveRatio: 0.98 },
        ttft: { thresholdSeconds: 1, objectiveRatio: 0.98 },
        tpot: { thresholdSeconds: 0.1 },
      },
      budget: { tokensPerHour: 200_000, tokensPerDay: 3_000_000 },
      connection: { family: 6, addressAttemptSeconds: 2 },
      metrics: { everySeconds: 3, exportHistograms: true, metricsUrl: new URL('http://127.0.0.1:9000/metrics') },
    });
  });

  it('gives a target without profiles all shared ones, and the built-in ones only by name', () => {
    const shared = 'profiles: [{name: quick, every: 10s, max_tokens: 16}]\n';
    expect(firstTarget(`${shared}${TARGET}`).profiles.map(({ profile }) => profile.name)).toEqual(['quick']);
    expect(
      firstTarget(`${shared}${TARGET}    profiles: [quick, warm]\n`).profiles.map(({ profile }) => profile.name),
    ).toEqual(['quick', 'warm']);
  });

  it('lets a shared profile take the name of a built-in one', () => {
    const target = firstTarget(`profiles: [{name: warm, every: 30s}]\n${TARGET}    profiles: [cold, warm]\n`);
    expect(target.profiles.map(({ profile, timetable }) => [profile.prefix, timetable.everySeconds])).toEqual([
      ['unique', 15],
      ['unique', 30],
    ]);
  });

  it('mixes named and inline profiles', () => {
    const target = firstTarget(
      `${TARGET}    profiles:\n      - warm\n      - {name: canary, schedule: "0 */5 * * * *", prompt: "2+2=", expect: {answer: "4"}}\n`,
    );
    expect(target.profiles[1]).toMatchObject({
      profile: { name: 'canary', prefix: 'shared', prompt: '2+2=', expect: { answer: '4' } },
      timetable: { everySeconds: null, cron: '0 */5 * * * *' },
    });
  });
});

describe('targets', () => {
  it('keep the path of a base URL and lose its last slash', () => {
    expect(firstTarget('targets: [{name: a, url: "https://gw.example/openai/v1/"}]').url.href).toBe(
      'https://gw.example/openai/v1',
    );
    expect(firstTarget('targets: [{name: a, url: "http://127.0.0.1:10080/"}]').url.href).toBe(
      'http://127.0.0.1:10080/',
    );
  });

  it('may carry the API version of an Azure deployment in the URL', () => {
    const text =
      'targets: [{name: a, url: "https://x.openai.azure.com?api-version=2024-10-21", api: azure, model: gpt}]';
    expect(firstTarget(text).url.search).toBe('?api-version=2024-10-21');
  });

  it('have header names in lower case, from the file and from secrets', () => {
    const target = firstTarget(`${TARGET}    headers: {X-Tenant: probes}\n    header_files: {Authorization: auth}\n`, {
      others: { '/etc/probe/auth': 'Basic abc\n' },
    });
    expect(target.headers).toEqual({ 'x-tenant': 'probes' });
    expect(target.secretHeaders.authorization?.reveal()).toBe('Basic abc');
  });

  it('may take the proxy of the environment', () => {
    expect(firstTarget(`${TARGET}    connection: {proxy_url: env}\n`).connection.proxyUrl).toBe('env');
  });

  it('may be named with anything that a label can hold', () => {
    expect(firstTarget('targets: [{name: \'a"b\\c\', url: "http://127.0.0.1"}]').name).toBe('a"b\\c');
  });

  it('take a KV cache by its capacity, or by memory and shape', () => {
    expect(firstTarget(`${TARGET}    kv_cache: {capacity_tokens: 5000}\n`).kvCache).toMatchObject({
      capacityTokens: 5000,
      memoryBytes: null,
    });
    expect(
      firstTarget(`${TARGET}    kv_cache: {memory: 1GiB, layers: 32, kv_heads: 8, head_dim: 128, dtype_bytes: 2}\n`)
        .kvCache,
    ).toEqual({
      capacityTokens: null,
      memoryBytes: 1_073_741_824,
      layers: 32,
      kvHeads: 8,
      headDim: 128,
      dtypeBytes: 2,
    });
  });
});

describe('what is wrong', () => {
  it('is told all at once, in the order of the lines, without what only follows from something told already', () => {
    const text = `profiles:
  - {name: cold, every: 5, deadlines: {first_token: 90s}}
targets:
  - name: a
    url: https://gw.example/v1?key=qk-7
    modle: x
  - name: a
    url: http://127.0.0.1:8000
    profiles: [wram]
    budget: {tokens_per_hour: 1}
`;
    expect(issuesOf(text)).toEqual([
      '2:25: profiles[0].every: must be a duration with its unit, such as 15s or 500ms, not a number',
      '5:10: targets[0].url: must not hold a query: a key belongs into a file named in api_key_file or header_files',
      '6:5: targets[0].modle: is not a key here; did you mean model?',
      '7:11: targets[1].name: is the name of targets[0] already: names must differ',
      '9:16: targets[1].profiles[0]: names a profile that is not described; did you mean warm?',
    ]);
  });

  it('is thrown as CONFIG_INVALID with a line for each issue', () => {
    const files = memoryFiles({ 'c.yml': 'targets: [{name: a}, {url: "http://x"}]\nfoo: 1\n' });
    try {
      loadConfigFile('c.yml', { environment: {}, files });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      expect(error.code).toBe('CONFIG_INVALID');
      expect(error.message.split('\n')).toEqual([
        'configuration c.yml is not usable: 3 errors',
        '  c.yml:1:11: targets[0].url: is missing: give a URL',
        '  c.yml:1:22: targets[1].name: is missing: give a name',
        expect.stringMatching(/^ {2}c\.yml:2:1: foo: is not a key here/),
      ]);
    }
  });

  it('names the file that cannot be read', () => {
    expect(() => loadConfigFile('/nowhere/c.yml', { environment: {}, files: memoryFiles() })).toThrow(
      '/nowhere/c.yml: does not exist; give its path with --config.file',
    );
  });

  it('is not a key file that is missing, which would stop the other targets, but a warning', () => {
    expect(warningsOf(`${TARGET}    api_key_file: /run/secrets/key\n`)).toEqual([
      '4:19: warning: targets[0].api_key_file: names /run/secrets/key, which does not exist; probes of this target fail until it can be read',
    ]);
  });
});

describe('flags', () => {
  it('win over the file, and what is wrong with them is told under their name', () => {
    const level = { path: ['log', 'level'], place: '--log.level' };
    expect(
      loadText(`log: {level: info}\n${TARGET}`, { overrides: [{ ...level, value: 'debug' }] }).config.log.level,
    ).toBe('debug');
    expect(issuesOf(TARGET, { overrides: [{ ...level, value: 'loud' }] })).toEqual([
      '--log.level: must be one of debug, info, warn, error',
    ]);
  });
});
