import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { fakeContext } from '../../support/cli-context.ts';

const TARGET = 'targets:\n  - name: a\n    url: http://127.0.0.1:1\n';
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'inference-probe-cli-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const context = fakeContext(environment);
  const code = await runCli(args, context);
  return { code, out: context.output(), err: context.errors() };
}

describe('the command line', () => {
  it('says its version and succeeds', async () => {
    const { code, out } = await run(['--version']);
    expect(out).toMatch(/^inference-probe, version \d+\.\d+\.\d+\S* \(revision: \w+\)\n {2}node version: v\d+/);
    expect(code).toBe(0);
  });

  it.each([[[]], [['serve']], [['check']], [['once']], [['simulate']], [['demo']]])(
    'shows help for %j and succeeds',
    async (command) => {
      const { code, out, err } = await run([...command, '--help']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(`Usage: inference-probe ${command.join()}`);
    },
  );

  it.each([
    [['chek'], 'inference-probe: "chek" is not a command; did you mean check?'],
    [['nonsense'], 'there are serve, check, once, simulate, demo, load, sweep, compare, report, help'],
    [['--web.listen-adress=x'], '(Did you mean --web.listen-address?)'],
    [['serve', 'something'], 'too many arguments'],
    [['check', '--config.file'], "option '--config.file <path>' argument missing"],
    [['once', '--header', 'no colon'], 'inference-probe: --header must be of the form "Name: value"'],
    [['once', '--url', '127.0.0.1:8000'], '--url: is not an http:// or https:// URL'],
    [['once', '--timeout', 'soon'], '--timeout: is not a duration'],
    [['once', '--max-tokens', 'few'], '--max-tokens: must be a whole number, not a string'],
    [['once', '--prefix', 'hot'], '--prefix: must be one of unique, shared'],
    [['once', '--target', 'x'], '--target needs --config.file'],
    [['once', '--config.file', 'x', '--url', 'http://y'], 'describe two different targets'],
    [['once', '--profile', 'x'], '--profile "x" is not in the configuration; there are once'],
    [['once', '--api-key-file', '/x', '--api-key-env', 'Y'], '--api-key-env: stands beside api_key_file'],
    [
      ['sweep', '--url', 'http://y', '--levels', '1,70000'],
      '70000 requests in flight are more than one machine can have',
    ],
    [
      ['sweep', '--url', 'http://y', '--levels', '8,2', '--workers', '4'],
      '4 workers cannot share 2 requests in flight',
    ],
    [['sweep', '--url', 'http://y', '--from', '2', '--workers', '4'], '4 workers cannot share 2 requests in flight'],
    [
      ['sweep', '--url', 'http://y', '--start', 'engine {value}', '--values', '1,2', '-c', '1', '--workers', '2'],
      '2 workers cannot share 1 requests in flight',
    ],
    [['simulate', '--load', 'tsunami'], '--load must be one of none, steady, wave, not "tsunami"'],
  ])('refuses %j with exit code 2 and says what is wrong', async (args, message) => {
    const { code, out, err } = await run(args);
    expect(err).toContain(message);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});

describe('check', () => {
  it('shows what a configuration comes to, with its warnings, and succeeds', async () => {
    const path = file(
      'weak.yml',
      `profiles: [{name: cold, every: 30s, max_tokens: 8}]\n${TARGET}    kv_cache: {capacity_tokens: 1360}\n`,
    );
    const { code, out, err } = await run(['check', '--config.file', path]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`configuration ${path} can be used, with 1 warning:`);
    expect(out).toContain(`${path}:1:49: warning: profiles[0].max_tokens: (8) is below 16`);
    expect(out).toMatch(
      /cold: every 30s, 136 tokens a probe, \d+ series; enough probes for p95 after 30m, p99 after 150m/,
    );
    expect(out).toContain('tokens: 16,320 an hour of 100,000, 391,680 a day of 2,000,000');
    expect(out).toContain('cold: 10 probes of 136 tokens fit at once; one takes 10 %');
    expect(out).toContain('between_tokens: 10s');
  });

  it('works out the KV cache from memory and shape', async () => {
    const path = file(
      'kv.yml',
      `${TARGET}    profiles: [cold]\n    kv_cache: {memory: 1GiB, layers: 32, kv_heads: 8, head_dim: 128, dtype_bytes: 2}\n`,
    );
    // 2 x 32 layers x 8 heads x 128 x 2 bytes = 131,072 bytes a token; 1 GiB holds 8,192 tokens.
    const { out } = await run(['check', '--config.file', path]);
    expect(out).toContain('KV cache: 8,192 tokens (131,072 bytes a token)');
    expect(out).toContain('cold: 51 probes of 160 tokens fit at once; one takes 2.0 %');
  });

  it('takes the file from the environment, and flags before the file', async () => {
    const path = file('plain.yml', `log: {level: warn}\n${TARGET}`);
    const { out } = await run(['check', '--log.level=debug'], { INFERENCE_PROBE_CONFIG_FILE: path });
    expect(out).toContain(`configuration ${path} can be used`);
    expect(out).toContain('level: debug');
  });

  it.each([[['check']], [['serve', '--config.check']], [['--config.check']], [['serve']], [[]]])(
    'lists every mistake and exits with 1: %j',
    async (args) => {
      const path = file('wrong.yml', 'targets:\n  - name: a\n    url: ftp://x\n    modle: y\n');
      const { code, out, err } = await run([...args, `--config.file=${path}`]);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toBe(
        `inference-probe: configuration ${path} is not usable: 2 errors\n  ${path}:3:10: targets[0].url: is not an http:// or https:// URL\n  ${path}:4:5: targets[0].modle: is not a key here; did you mean model?`,
      );
    },
  );

  it('exits with 1 for a file that is not there', async () => {
    const { code, err } = await run(['check', '--config.file=/nowhere/c.yml']);
    expect(code).toBe(1);
    expect(err).toContain('/nowhere/c.yml: does not exist');
  });

  it('never shows a secret', async () => {
    const key = file('key', 'sk-canary-1\n');
    const path = file('secret.yml', `${TARGET}    api_key_file: ${key}\n    headers: {x-note: canary-2}\n`);
    const { out, err } = await run(['check', '--config.file', path]);
    expect(out).toContain(`api_key_file: ${key}`);
    expect(out + err).not.toContain('canary');
  });
});
