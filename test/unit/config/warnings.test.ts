import { describe, expect, it } from 'vitest';
import { TARGET, warningsOf } from './support.ts';

const profile = (text: string): string => `profiles: [{name: c, ${text}}]\n${TARGET}`;
const key = { others: { '/etc/probe/key': 'sk-test-1' } };

describe('weak settings', () => {
  const table: readonly {
    readonly id: string;
    readonly text: string;
    readonly warnings: readonly (string | RegExp)[];
  }[] = [
    {
      id: 'few output tokens',
      text: profile('max_tokens: 8'),
      warnings: [/^1:34: warning: profiles\[0\]\.max_tokens: \(8\) is below 16/],
    },
    {
      id: 'few output tokens for a model that says it reasons',
      text: `${TARGET}    reasoning: true\n    profiles: [cold]\n`,
      warnings: [/max_tokens: \(32, profile cold\) is below 64 for a reasoning model \(target a\)/],
    },
    {
      id: 'few output tokens for a model whose name says it reasons',
      text: `${TARGET}    model: deepseek-ai/DeepSeek-R1-Distill-Qwen-7B\n    profiles: [cold]\n`,
      warnings: [/is below 64 for a reasoning model/],
    },
    {
      id: 'a load instead of a probe',
      text: `budget: {tokens_per_hour: 900000, tokens_per_day: 90000000}\n${profile('every: 1s')}`,
      warnings: [/every: \(1s\) is below 2s/],
    },
    {
      id: 'an objective beyond the probe rate',
      text: `slo: {availability: {objective: 0.999}}\n${profile('every: 60s')}`,
      warnings: [
        '1:33: warning: slo.availability.objective: availability objective 0.999 cannot be measured with 60 probes an hour of profile c: one bad probe alone pages; probe more often than every 51s, or set an objective of 0.995 or less',
      ],
    },
    {
      id: 'an objective of a target beyond the probe rate',
      text: `${profile('every: 5m')}    slo: {ttft: {objective: 0.995}}\n`,
      warnings: [
        /^5:29: warning: targets\[0\]\.slo\.ttft\.objective: ttft objective 0\.995 cannot be measured with 12 probes/,
      ],
    },
    {
      id: 'an objective that can never page',
      text: `slo: {tpot: {objective: 0.9}}\n${profile('every: 15s')}`,
      warnings: [/tpot objective 0\.9 is too low for the fast-burn page/],
    },
    {
      id: 'a threshold that no probe reaches alive',
      text: `slo: {ttft: {threshold: 10s}}\n${profile('deadlines: {first_token: 10s}')}`,
      warnings: [
        '1:25: warning: slo.ttft.threshold: ttft threshold 10s is not below deadlines.first_token (10s) of profile c: a probe fails before it is slow',
      ],
    },
    {
      id: 'a threshold outside of the bounds',
      text: `buckets: {ttft_seconds: [0.1, 1]}\n${profile('every: 15s')}`,
      warnings: [/^4:5: warning: targets\[0\]: ttft threshold 2s lies outside of the histogram bounds \(100ms to 1s\)/],
    },
    {
      id: 'a budget below the plan',
      text: `budget: {tokens_per_hour: 1000, tokens_per_day: 20000}\n${profile('every: 15s')}`,
      warnings: [
        /tokens_per_hour: target a: the profiles plan 38400 tokens an hour, the budget allows 1000/,
        /tokens_per_day: target a: the profiles plan 921600 tokens a day, the budget allows 20000/,
      ],
    },
    {
      id: 'a budget that never limits',
      text: `budget: {tokens_per_hour: 3000000}\n${profile('every: 15s')}`,
      warnings: [/tokens_per_hour: \(3000000\) is above tokens_per_day \(2000000\)/],
    },
    {
      id: 'TLS without verification',
      text: 'targets: [{name: a, url: "https://gw.example", connection: {tls: {insecure_skip_verify: true}}}]',
      warnings: [/insecure_skip_verify: is on/],
    },
    {
      id: 'a CA file that is not there',
      text: 'targets: [{name: a, url: "https://gw.example", connection: {tls: {ca_file: ca.pem}}}]',
      warnings: [/ca_file: names \/etc\/probe\/ca\.pem, which does not exist; probes fail until it can be read/],
    },
    {
      id: 'a key in clear text',
      text: 'targets: [{name: a, url: "http://gw.example", api_key_file: key}]',
      warnings: [/url: is http:\/\/ and leaves this machine/],
    },
    {
      id: 'a key beside an authorization header',
      text: `${TARGET}    api_key_file: key\n    header_files: {authorization: key}\n`,
      warnings: [/api_key_file: stands beside a header authorization/],
    },
    {
      id: 'a secret among plain headers',
      text: `${TARGET}    headers: {x-api-key: abc}\n`,
      warnings: [/headers\.x-api-key: looks like a secret/],
    },
    {
      id: 'prompt tokens beside a fixed prompt',
      text: profile('prompt: hi, prompt_tokens: 5'),
      warnings: [/prompt_tokens: is not used beside a fixed prompt/],
    },
    {
      id: 'a fixed prompt that is said to be unique',
      text: profile('prompt: hi, prefix: unique'),
      warnings: [/prefix: unique cannot hold with a fixed prompt/],
    },
    {
      id: 'a known answer to no known prompt',
      text: profile('expect: {answer: "4"}'),
      warnings: [/expect: asks for a known answer without a fixed prompt/],
    },
    {
      id: 'a known answer with temperature',
      text: profile('prompt: hi, temperature: 1, expect: {answer: "4"}'),
      warnings: [/temperature: above 0 makes answers differ/],
    },
    {
      id: 'a search for garbage past the end',
      text: profile('ignore_eos: true, expect: {degenerate: true}'),
      warnings: [/degenerate: beside ignore_eos: true finds fault with sound models/],
    },
    {
      id: 'a body that replaces the request',
      text: profile('extra_body: {stream: false}'),
      warnings: [/extra_body: replaces stream, model, prompt or messages/],
    },
    {
      id: 'a shared profile that nobody uses',
      text: `profiles: [{name: c}, {name: d}]\n${TARGET}    profiles: [c]\n`,
      warnings: [/^1:30: warning: profiles\[1\]\.name: is used by no target/],
    },
    {
      id: 'a metrics URL that is not asked',
      text: `${TARGET}    metrics: {enabled: false, url: "http://127.0.0.1/metrics"}\n`,
      warnings: [/url: is not used while metrics\.enabled is false/],
    },
    {
      id: 'a hang verdict from two polls',
      text: `${TARGET}    metrics: {every: 10s, hang_after: 20s}\n`,
      warnings: [/hang_after: \(20s\) is below three polls/],
    },
  ];

  it.each(table)('warns of $id', ({ text, warnings }) => {
    expect(warningsOf(text, key)).toEqual(
      warnings.map((warning) => (typeof warning === 'string' ? warning : expect.stringMatching(warning))),
    );
  });

  it.each([
    ['a key on this machine', `${TARGET}    api_key_file: key\n`],
    ['a key over TLS', 'targets: [{name: a, url: "https://gw.example", api_key_file: key}]'],
    ['99 % with probes every minute', `slo: {availability: {objective: 0.99}}\n${profile('every: 60s')}`],
    ['99.9 % with probes every 30 s', `slo: {availability: {objective: 0.999}}\n${profile('every: 30s')}`],
    [
      'an interval below the total deadline that is said to be meant',
      profile('every: 10s, allow_overlap: true, deadlines: {total: 20s}'),
    ],
    [
      'enough tokens for a reasoning model',
      `${TARGET}    reasoning: true\n    profiles: [{name: c, max_tokens: 64}]\n`,
    ],
    [
      'a model that is said not to reason, whatever its name',
      `${TARGET}    model: qwq-not\n    reasoning: false\n    profiles: [cold]\n`,
    ],
  ])('says nothing of %s', (_, text) => {
    expect(warningsOf(text, key)).toEqual([]);
  });

  it('says a thing about a shared profile once, however many targets use it', () => {
    const text = `${profile('max_tokens: 8')}  - name: b\n    url: http://127.0.0.1:8001\n`;
    expect(warningsOf(text)).toHaveLength(1);
  });
});
