import type { StreamErrorObject } from './reading.ts';
import type { FailureReason } from './reasons.ts';

/**
 * Kinds of words that engines and gateways put into `type` or `code`, letters and digits only. Each vendor spells them
 * in its own way, so these look for the part that all have in common. Those of the first table say more than any
 * status: a spent budget comes as 400, 402, 403 or 429, an overload as 429, 500 or 503, each depending on the version
 * of the gateway.
 */
const STRONGER_THAN_STATUS: readonly (readonly [RegExp, FailureReason])[] = [
  // Before quotas: "Throttling.RateQuota" is a rate.
  [/(?:rate|request)limit|limit(?:requests|burst)|throttl/, 'rate_limited'],
  [/quota|budget|billing|credit|arrear|insufficientbalance|paymentrequired/, 'quota_exhausted'],
  // Azure, LiteLLM and DashScope refuse a prompt with 400.
  [/contentfilter|contentpolicy|responsibleai|moderation|inspection|guardrail|prohibitedcontent/, 'content_filtered'],
  // Gateways that know no such model say so with 400 too.
  [
    /(?:model|deployment)not(?:found|exist|available|supported)|(?:nosuch|unknown|invalid|unavailable)model/,
    'not_found',
  ],
  [/model(?:not|isnot)ready|modelloading/, 'starting'],
  [/overload|queuefull|serverbusy|(?:no|outof|insufficient)capacity|capacity(?:exceeded|error)/, 'overloaded'],
];

/** These only name what a status says anyway; they count where there is no status of an error. */
const INSTEAD_OF_STATUS: readonly (readonly [RegExp, number])[] = [
  [/unauth|authentication|autherror|apikey/, 401],
  [/permission|forbidden|accessdenied/, 403],
  [/notfound/, 404],
  [/toomanyrequests|resourceexhausted/, 429],
  [/invalidrequest|invalidargument|badrequest|validation|unsupported|unprocessable/, 400],
  [/context(?:length|window|size)/, 400],
  [/unavailable/, 503],
  [/badgateway/, 502],
  [/timeout|timedout|deadlineexceeded/, 504],
];

/** A whole error may be no more than the phrase of a status. */
const PHRASES: readonly (readonly [RegExp, number])[] = [
  [/^unauthorized$/, 401],
  [/^forbidden$/, 403],
  [/^notfound$/, 404],
  [/^toomanyrequests$/, 429],
  [/^badrequest$/, 400],
  [/^serviceunavailable$/, 503],
  [/^badgateway$/, 502],
  [/^gatewaytimeout$/, 504],
];

/** AWS writes a name space before its words, and an address behind them. */
const essence = (word: string): string =>
  word
    .slice(word.lastIndexOf('#') + 1)
    .replace(/:.*/s, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

const LONGEST_WORD = 100;

function lookUp<T>(table: readonly (readonly [RegExp, T])[], words: readonly (string | null | undefined)[]): T | null {
  for (const word of words) {
    const text = essence((word ?? '').slice(0, LONGEST_WORD));
    const found = table.find(([kind]) => kind.test(text));
    if (found !== undefined) return found[1];
  }
  return null;
}

/** The reason that the words of an error give whatever the status; null to judge by the status. */
export const strongReason = (error: StreamErrorObject | null, header?: string): FailureReason | null =>
  lookUp(STRONGER_THAN_STATUS, [error?.type, error?.code, header]);

/** The status that the words of an error stand for, in the absence of one. The code says more than the type. */
export const impliedStatus = (error: StreamErrorObject): number | null =>
  lookUp(INSTEAD_OF_STATUS, [error.code, error.type]) ?? lookUp(PHRASES, [error.text]);
