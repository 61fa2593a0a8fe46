import { describe, expect, it } from 'vitest';
import { firstTarget, issuesOf, loadText, TARGET } from './support.ts';

// The texts under test hold ${...} on purpose.
const reference = (name: string): string => `$\{${name}}`;

describe('references to environment variables', () => {
  it('are replaced inside text values', () => {
    const target = firstTarget(`${TARGET}    model: org/${reference('MODEL')}-awq\n`, {
      environment: { MODEL: 'llama' },
    });
    expect(target.model).toBe('org/llama-awq');
  });

  it('cannot bring in structure, whatever the variable holds', () => {
    const environment = { MODEL: 'x", paused: true, "y: [1, 2' };
    expect(firstTarget(`${TARGET}    model: ${reference('MODEL')}\n`, { environment }).model).toBe(environment.MODEL);
  });

  it('are an error at their place when the variable is not set, beside all other errors', () => {
    expect(issuesOf(`${TARGET}    model: ${reference('NOPE')}\n    engine: vlm\n`)).toEqual([
      '4:12: targets[0].model: refers to the environment variable NOPE, which is not set',
      expect.stringMatching(/^5:13: targets\[0\]\.engine: must be one of/),
    ]);
  });

  it('may be empty when the variable is set to nothing, which the key then judges', () => {
    expect(issuesOf(`${TARGET}    model: ${reference('EMPTY')}\n`, { environment: { EMPTY: '' } })).toEqual([
      '4:12: targets[0].model: must not be empty',
    ]);
  });

  it('are written with a second dollar sign when they are not meant', () => {
    const { config } = loadText(`${TARGET}    headers: {x-note: "$${reference('HOME')}"}\n`, {
      environment: { HOME: '/root' },
    });
    expect(config.targets[0]?.headers).toEqual({ 'x-note': reference('HOME') });
  });

  it('leave a lone dollar sign alone, as regular expressions need it', () => {
    const target = firstTarget(`profiles: [{name: c, prompt: x, expect: {pattern: "^4$"}}]\n${TARGET}`);
    expect(target.profiles[0]?.profile.expect.pattern?.source).toBe('^4$');
  });

  it('are not replaced in keys', () => {
    expect(issuesOf(`${TARGET}    "${reference('KEY')}": 1\n`, { environment: { KEY: 'model' } })).toHaveLength(1);
  });
});
