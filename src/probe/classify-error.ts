import type { StreamErrorObject } from './reading.ts';
import type { FailureReason } from './reasons.ts';

/**
 * Words that engines and gateways put into `type` or `code`. Those of the first table say more than any status: a spent
 * budget comes as 400, 402, 403 or 429, an overload as 429, 500 or 503, each depending on the version of the gateway.
 */
const STRONGER_THAN_STATUS: ReadonlyMap<string, FailureReason> = new Map([
  ['budget_exceeded', 'quota_exhausted'],
  ['insufficient_quota', 'quota_exhausted'],
  ['quota_exceeded', 'quota_exhausted'],
  ['billing_error', 'quota_exhausted'],
  ['billing_hard_limit_reached', 'quota_exhausted'],
  ['billing_not_active', 'quota_exhausted'],
  ['insufficient_credits', 'quota_exhausted'],
  // Azure and LiteLLM refuse a prompt with 400.
  ['content_filter', 'content_filtered'],
  ['content_policy_violation', 'content_filtered'],
  ['contentpolicyviolationerror', 'content_filtered'],
  ['responsibleaipolicyviolation', 'content_filtered'],
  // Gateways that know no such model say so with 400 too.
  ['model_not_found', 'not_found'],
  ['rate_limit_error', 'rate_limited'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['ratelimiterror', 'rate_limited'],
  ['throttlingexception', 'rate_limited'],
  ['overloaded_error', 'overloaded'],
  ['overloaded', 'overloaded'],
]);

/** These only name what a status says anyway; they count where there is no status of an error. */
const INSTEAD_OF_STATUS: ReadonlyMap<string, FailureReason> = new Map([
  ['authentication_error', 'unauthorized'],
  ['authenticationerror', 'unauthorized'],
  ['invalid_api_key', 'unauthorized'],
  ['permission_error', 'forbidden'],
  ['permissiondeniederror', 'forbidden'],
  ['not_found_error', 'not_found'],
  ['notfounderror', 'not_found'],
  ['invalid_request_error', 'bad_request'],
  ['badrequesterror', 'bad_request'],
  ['bad request', 'bad_request'],
  ['context_length_exceeded', 'bad_request'],
  ['exceed_context_size_error', 'bad_request'],
  ['contextwindowexceedederror', 'bad_request'],
  ['unsupported_parameter', 'bad_request'],
  ['serviceunavailableerror', 'overloaded'],
  ['service_unavailable', 'overloaded'],
  ['timeout_error', 'gateway_timeout'],
]);

function lookUp(table: ReadonlyMap<string, FailureReason>, error: StreamErrorObject | null): FailureReason | null {
  const words = [error?.type, error?.code].map((word) => word?.toLowerCase() ?? '');
  return words.map((word) => table.get(word)).find((reason) => reason !== undefined) ?? null;
}

/** The reason that the error's own words give whatever the status; null to judge by the status. */
export const strongReason = (error: StreamErrorObject | null): FailureReason | null =>
  lookUp(STRONGER_THAN_STATUS, error);

/** The reason that the error's words give in the absence of a status. */
export const weakReason = (error: StreamErrorObject | null): FailureReason | null => lookUp(INSTEAD_OF_STATUS, error);

const CONTEXT =
  /context.{0,12}(?:length|size|window)|exceed_context_size|max_model_len|prompt.{0,20}too long|longer than the model/i;
const OUTPUT_USED_UP = /max_(?:completion_|output_)?tokens.{0,60}reached|could not finish the message/i;

/** What a refused request was refused for, as far as its words tell; for the message and the detail. */
export function refusedFor(error: StreamErrorObject | null): 'prompt_too_long' | 'max_tokens_too_small' | null {
  const words = `${error?.type ?? ''} ${error?.code ?? ''} ${error?.text ?? ''}`;
  if (OUTPUT_USED_UP.test(words)) return 'max_tokens_too_small';
  return CONTEXT.test(words) ? 'prompt_too_long' : null;
}
