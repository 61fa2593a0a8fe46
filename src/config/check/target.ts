import type { EngineName } from '../../engine/types.ts';
import type { ApiName } from '../../probe/outcome.ts';
import type { PlacedTarget } from '../build/target.ts';
import { isLoopback } from '../build/url.ts';
import { WEAK } from '../defaults.ts';
import { planTokens } from '../plan.ts';
import { formatDuration } from '../quantities.ts';
import type { Report } from '../report.ts';
import type { RawConfig } from '../schema/root.ts';

/** The engines that offer an API of one engine's own. Any other API is offered by many. */
const API_ENGINES: Partial<Readonly<Record<ApiName, readonly EngineName[]>>> = {
  sglang: ['sglang', 'unknown'],
  tgi: ['tgi', 'unknown'],
  llamacpp: ['llamacpp', 'unknown'],
  // SGLang answers Ollama's API as well.
  ollama: ['ollama', 'sglang', 'unknown'],
};

// Names under which models that think are served.
const REASONING =
  /(?:^|[/_.-])(?:deepseek-r\d|r1(?=-|$)|qwq|qwen3|gpt-oss|magistral|o[134](?=-|$)|.*-(?:thinking|reasoning))/i;

function checkApi({ target, path }: PlacedTarget, report: Report): void {
  if (target.api === 'azure' && target.model === 'auto') {
    report.error(
      [...path, 'model'],
      'must be named with api: azure, where it is the name of the deployment and cannot be listed',
    );
  }
  if (target.api === 'auto' || target.engine === 'auto') return;
  const engines = API_ENGINES[target.api];
  if (engines !== undefined && !engines.includes(target.engine)) {
    report.error([...path, 'api'], `${target.api} is not offered by engine ${target.engine}`);
  }
}

function checkReasoning({ target, raw, profiles }: PlacedTarget, report: Report): void {
  const named = raw.reasoning ?? (target.model !== 'auto' && REASONING.test(target.model));
  if (!named) return;
  for (const { scheduled, path } of profiles) {
    const { maxTokens, name } = scheduled.profile;
    if (maxTokens >= WEAK.reasoningMaxTokens || maxTokens < WEAK.maxTokens) continue;
    report.warning(
      [...path, 'max_tokens'],
      `(${maxTokens}, profile ${name}) is below ${WEAK.reasoningMaxTokens} for a reasoning model (target ${target.name}): nothing may become visible before it is spent`,
    );
  }
}

function checkCredentials({ target, raw, path }: PlacedTarget, report: Report): void {
  const headers = [...Object.keys(target.headers), ...Object.keys(target.secretHeaders)];
  if (target.apiKey !== null && headers.includes('authorization')) {
    report.warning(
      [...path, raw.api_key_file === undefined ? 'api_key_env' : 'api_key_file'],
      'stands beside a header authorization: only one of the two can be sent',
    );
  }
  const secret = target.apiKey !== null || Object.keys(target.secretHeaders).length > 0;
  if (secret && target.url.protocol === 'http:' && !isLoopback(target.url)) {
    report.warning(
      [...path, 'url'],
      'is http:// and leaves this machine: the key can be read on the way; use https://',
    );
  }
}

function checkMetrics({ target, path }: PlacedTarget, root: RawConfig, report: Report): void {
  const { enabled, metricsUrl, everySeconds, staleAfterSeconds, peakWindowSeconds, hangAfterSeconds } = target.metrics;
  const at = [...path, 'metrics'];
  const key = (name: 'stale_after' | 'peak_window' | 'hang_after'): readonly (string | number)[] =>
    root.metrics?.[name] === undefined ? [...at, name] : ['metrics', name];
  if (!enabled && metricsUrl !== null) report.warning([...at, 'url'], 'is not used while metrics.enabled is false');
  if (everySeconds === null) return;
  const every = formatDuration(everySeconds);
  if (staleAfterSeconds <= everySeconds) {
    report.error(
      key('stale_after'),
      `(${formatDuration(staleAfterSeconds)}) is not above metrics.every (${every}): the series would vanish between polls`,
    );
  }
  if (peakWindowSeconds < everySeconds) {
    report.error(
      key('peak_window'),
      `(${formatDuration(peakWindowSeconds)}) is below metrics.every (${every}): there would be no peak in it`,
    );
  }
  if (hangAfterSeconds < 3 * everySeconds) {
    report.warning(
      key('hang_after'),
      `(${formatDuration(hangAfterSeconds)}) is below three polls (metrics.every ${every}): a busy engine may look hung`,
    );
  }
}

function checkBudget({ target, raw, path }: PlacedTarget, root: RawConfig, report: Report): void {
  const { tokensPerHour, tokensPerDay } = target.budget;
  const plan = planTokens(target);
  const at = (key: 'tokens_per_hour' | 'tokens_per_day'): readonly (string | number)[] => {
    if (raw.budget?.[key] !== undefined) return [...path, 'budget', key];
    return root.budget?.[key] === undefined ? path : ['budget', key];
  };
  const short = (planned: number, allowed: number, window: string): string =>
    `target ${target.name}: the profiles plan ${planned} tokens ${window}, the budget allows ${allowed}: probes will be skipped; probe less often, with fewer tokens, or raise it`;
  if (plan.tokensPerHour > tokensPerHour)
    report.warning(at('tokens_per_hour'), short(plan.tokensPerHour, tokensPerHour, 'an hour'));
  if (plan.tokensPerDay > tokensPerDay)
    report.warning(at('tokens_per_day'), short(plan.tokensPerDay, tokensPerDay, 'a day'));
  if (tokensPerHour > tokensPerDay) {
    report.warning(
      at('tokens_per_hour'),
      `(${tokensPerHour}) is above tokens_per_day (${tokensPerDay}), so it never limits`,
    );
  }
}

/** What is impossible or weak about one target. */
export function checkTarget(target: PlacedTarget, root: RawConfig, report: Report): void {
  checkApi(target, report);
  checkReasoning(target, report);
  checkCredentials(target, report);
  checkMetrics(target, root, report);
  checkBudget(target, root, report);
}
