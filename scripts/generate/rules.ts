import { healthyHour, ruleCases } from '../../deploy/prometheus/source/cases.ts';
import {
  renderHealthyHour,
  renderPrometheusRule,
  renderRuleFile,
  renderRuleTests,
} from '../../deploy/prometheus/source/render.ts';

/** The rule file, the same rules for the operator, and promtool's tests of them. */
export function generateRules(): { readonly path: string; readonly content: string }[] {
  const tests = renderRuleTests(ruleCases);
  return [
    { path: 'deploy/prometheus/inference-probe.rules.yml', content: renderRuleFile() },
    { path: 'deploy/prometheus/tests/short.test.yml', content: tests.short },
    { path: 'deploy/prometheus/tests/long.test.yml', content: tests.long },
    { path: 'deploy/prometheus/tests/healthy.test.yml', content: renderHealthyHour(healthyHour) },
    { path: 'deploy/helm/inference-probe-exporter/files/inference-probe.rules.yml', content: renderRuleFile() },
    { path: 'deploy/kubernetes/base/prometheusrule.yaml', content: renderPrometheusRule() },
  ];
}
