import { describe, expect, it } from 'vitest';
import { maskedConfig } from '../../../src/config/masked.ts';
import { loadText, TARGET } from './support.ts';

const SECRETS = { '/etc/probe/key': 'sk-canary-1', '/etc/probe/auth': 'Basic canary-2' };
const FULL = `web: {enable_pause: true}
profiles:
  - {name: cold, every: 10s, allow_overlap: true, deadlines: {total: 20s}, jitter: 1s}
  - {name: nightly, schedule: "0 30 2 * * *", prompt: canary-3, expect: {answer: canary-4, pattern: canary-5}, extra_body: {a: {b: canary-6, c: [1, true]}}}
targets:
  - name: a
    url: https://gw.example/v1
    api_key_file: key
    headers: {x-tenant: canary-7}
    header_files: {authorization: auth}
    metrics: {url: "http://127.0.0.1:9000/metrics?token=canary-8", max_bytes: 1MiB, every: 500ms}
    connection: {proxy_url: "http://u:canary-9@proxy.example:3128", tls: {server_name: inner.example}}
    kv_cache: {capacity_tokens: 100}
  - name: b
    url: http://127.0.0.1:8000
    api_key_env: KEY
`;
const load = (text: string) => loadText(text, { others: SECRETS, environment: { KEY: 'canary-10' } });

describe('the configuration as it may be shown', () => {
  it('G-179: holds no key, header value, prompt, answer, password or query', () => {
    const shown = maskedConfig(load(FULL).config);
    expect(shown).not.toMatch(/canary/);
    expect(shown).toContain('x-tenant: <redacted>');
    expect(shown).toContain('prompt: <redacted>');
    expect(shown).toContain('url: http://127.0.0.1:9000/metrics?<redacted>');
    expect(shown).toContain('proxy_url: http://proxy.example:3128');
  });

  it('says where secrets come from', () => {
    const shown = maskedConfig(load(FULL).config);
    expect(shown).toContain('api_key_file: /etc/probe/key');
    expect(shown).toContain('authorization: /etc/probe/auth');
    expect(shown).toContain('api_key_env: KEY');
  });

  it('is itself a configuration that means the same', () => {
    const { config } = load(TARGET.replace('127.0.0.1:8000', '127.0.0.1:8000/v1'));
    const again = load(maskedConfig(config)).config;
    expect(again).toEqual(config);
  });

  it('fills in every default', () => {
    const shown = maskedConfig(load(TARGET).config);
    for (const line of [
      'listen_address: :20061',
      'every: 15s',
      'first_token: 30s',
      'objective: 0.99',
      'tokens_per_day: 2000000',
      'max_bytes: 32MiB',
      'hang_after: 20s',
    ]) {
      expect(shown).toContain(line);
    }
  });

  it('loads again when it is masked, as far as masks can be read', () => {
    const shown = maskedConfig(load(FULL).config).replaceAll('?<redacted>', '');
    expect(load(shown).config.targets.map((target) => target.name)).toEqual(['a', 'b']);
  });
});
