import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

describe('the image', () => {
  it('is built from what the Dockerfile copies, and runs as its user with nothing but what it holds', async () => {
    const { stdout } = await promisify(execFile)('bash', ['scripts/image-dry-run.sh']);
    const skipped = /SKIPPED.*/.exec(stdout)?.[0];
    if (skipped !== undefined) console.warn(skipped);
    else {
      expect(stdout).toMatch(/^Uid:(?:\t65532){4}$/m);
      expect(stdout).toMatch(/^CapEff:\t0+$/m);
      expect(stdout).toMatch(/^NoNewPrivs:\t1$/m);
    }
    const files = stdout.matchAll(/^(\S+) (\d+) bytes$/gm);
    expect([...files].map(([, name]) => name)).toEqual([
      'LICENSE',
      'inference-probe.mjs',
      'inference-probe.mjs.LEGAL.txt',
      'inference-probe.mjs.map',
    ]);
    expect(stdout).toContain('revision: dry-run');
    expect(Number(/stopped with 0 in (\d+) ms/.exec(stdout)?.[1])).toBeLessThan(2000);
    // The bounds of the design, for an idle exporter.
    expect(Number(/VmRSS:\s+(\d+) kB/.exec(stdout)?.[1])).toBeLessThan(95 * 1024);
    expect(Number(/RssAnon:\s+(\d+) kB/.exec(stdout)?.[1])).toBeLessThan(40 * 1024);
  });

  it('asks for its health without a shell, in the way that the dry run does', () => {
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const [, question = ''] = /CMD \["\/nodejs\/bin\/node", "-e", "([^"]+)"\]/.exec(dockerfile) ?? [];
    const script = readFileSync('scripts/image-dry-run.sh', 'utf8');
    expect(script).toContain(question.replace('20061', '$PORT'));
    expect(question).toContain('/-/healthy');
  });
});
