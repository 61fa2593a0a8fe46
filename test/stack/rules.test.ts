import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missing, programs, root } from './support/programs.ts';

const run = (program: string | null, args: readonly string[]): string =>
  execFileSync(program ?? 'false', [...args], {
    cwd: join(root, 'deploy'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe.skipIf(missing('promtool'))('the rules on this promtool', () => {
  it('pass every lint', () => {
    expect(
      run(programs.promtool, ['check', 'rules', '--lint=all', '--lint-fatal', 'prometheus/inference-probe.rules.yml']),
    ).toContain('SUCCESS');
  });

  it.each(['short', 'long', 'healthy'])('fire where they must and nowhere else (%s)', (name) => {
    expect(run(programs.promtool, ['test', 'rules', `prometheus/tests/${name}.test.yml`])).toContain('SUCCESS');
  });
});

describe.skipIf(missing('amtool'))('the routing on this amtool', () => {
  const config = 'alertmanager/alertmanager.yml';
  const receiver = (...labels: readonly string[]): string =>
    run(programs.amtool, ['config', 'routes', 'test', `--config.file=${config}`, ...labels]).trim();

  it('is a valid configuration', () => {
    expect(run(programs.amtool, ['check-config', config])).toContain('SUCCESS');
  });

  it.each([
    ['pagerduty', ['product=inference-probe', 'severity=critical', 'alertname=InferenceTTFTDegraded']],
    ['tickets', ['product=inference-probe', 'severity=warning', 'alertname=InferencePreemptions']],
    ['nobody', ['product=inference-probe', 'severity=info', 'alertname=Anything']],
    ['dead-man', ['product=inference-probe', 'severity=none', 'alertname=InferenceProbeHeartbeat']],
    ['tickets', ['severity=critical', 'alertname=SomebodyElses']],
  ])('sends to %s: %j', (wanted, labels) => {
    expect(receiver(...labels)).toBe(wanted);
  });
});
