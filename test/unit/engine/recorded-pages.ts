/**
 * The normalised values of every recorded page, read off the pages with grep, not by this program. A row is one rank:
 * rank, KV usage, running, waiting, preemptions, prefix queries, prefix hits, prompt tokens, generation tokens, KV
 * capacity in tokens, count and sum of the TTFT histogram. Null: not on the page. The model is "tiny" unless said.
 */
export type Row = readonly [rank: string, ...values: (number | null)[]];

export const COLUMNS = [
  'kv_cache_usage_ratio',
  'requests_running',
  'requests_waiting',
  'preemptions',
  'prefix_cache_queries',
  'prefix_cache_hits',
  'prompt_tokens',
  'generation_tokens',
  'capacity',
  'ttftCount',
  'ttftSum',
] as const;

export const VLLM_PAGES: Readonly<Record<string, readonly Row[]>> = {
  'vllm-0.10.2-v1/metrics-after-preempt': [
    ['0', 0.3913043478260869, 1, 8, 4, 61886, 37152, 559, 1736, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.10.2-v1/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 768, 0, 0]],
  'vllm-0.10.2-v1/metrics-load1': [['0', 0.9565217391304348, 8, 4, 0, 1521, 0, 559, 499, 768, 21, 2.3327903747558594]],
  'vllm-0.10.2-v1/metrics-load2': [
    ['0', 0.8695652173913043, 5, 7, 0, 3749, 1984, 559, 737, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.10.2-v1/metrics-load3': [
    ['0', 0.8695652173913043, 5, 7, 0, 4043, 2272, 559, 752, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.10.2-v1/metrics-load4': [
    ['0', 0.8695652173913043, 5, 7, 0, 5807, 4000, 559, 842, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.10.2-v1/metrics-load5': [
    ['0', 0.8695652173913043, 5, 7, 0, 5905, 4096, 559, 847, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.10.2-v1/metrics-load6': [
    ['0', 0.8695652173913043, 5, 7, 0, 5905, 4096, 559, 847, 768, 21, 2.3327903747558594],
  ],
  'vllm-0.32.0-dp2/metrics-after-load': [
    ['0', 0, 0, 0, 0, 187, 0, 187, 1120, 262144, 7, 0.4770843982696533],
    ['1', 0, 0, 0, 0, 218, 0, 218, 1120, 262144, 7, 0.5461826324462891],
  ],
  // Two API servers: gauges are born with the first request, counters and histograms are there at once.
  'vllm-0.32.0-dp2/metrics-idle': [
    ['0', null, null, null, 0, 0, 0, 0, 0, 262144, 0, 0],
    ['1', null, null, null, 0, 0, 0, 0, 0, 262144, 0, 0],
  ],
  'vllm-0.32.0-dp2/metrics-load': [
    ['0', 0.0039081582804103565, 4, 0, 0, 187, 0, 187, 863, 262144, 7, 0.4770843982696533],
    ['1', 0.0039081582804103565, 4, 0, 0, 218, 0, 218, 845, 262144, 7, 0.5461826324462891],
  ],
  'vllm-0.32.0-hang/metrics-before-stop': [
    ['0', 0.002931118710307823, 1, 0, 0, 14, 0, 14, 747, 262144, 1, 0.04351043701171875],
  ],
  'vllm-0.32.0-hang/metrics-cont': [['0', 0, 0, 0, 0, 28, 0, 28, 1820, 262144, 2, 5.174750089645386]],
  'vllm-0.32.0-hang/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 262144, 0, 0]],
  'vllm-0.32.0-hang/metrics-stopped-10s': [
    ['0', 0.0039081582804103565, 1, 0, 0, 14, 0, 14, 957, 262144, 1, 0.04351043701171875],
  ],
  'vllm-0.32.0-hang/metrics-stopped-1s': [
    ['0', 0.0039081582804103565, 1, 0, 0, 14, 0, 14, 957, 262144, 1, 0.04351043701171875],
  ],
  'vllm-0.32.0-interval4/metrics-after': [['0', 0, 0, 0, 0, 118, 0, 118, 187, 262144, 7, 19.83288860321045]],
  'vllm-0.32.0-interval4/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 262144, 0, 0]],
  'vllm-0.32.0-noprefix/metrics-after-load': [['0', 0, 0, 0, 0, 0, 0, 290, 1660, 262144, 10, 0.25702786445617676]],
  'vllm-0.32.0-noprefix/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 262144, 0, 0]],
  'vllm-0.32.0-noprefix/metrics-load': [
    ['0', 0.00830483634587198, 6, 0, 0, 0, 0, 290, 1444, 262144, 10, 0.25702786445617676],
  ],
  'vllm-0.32.0-noprefix/metrics-load2': [['0', 0, 0, 0, 0, 0, 0, 290, 1660, 262144, 10, 0.25702786445617676]],
  'vllm-0.32.0-plain/metrics-abort-0s': [['0', 0, 0, 0, 0, 697, 0, 697, 2122, 262144, 34, 15.194697141647339]],
  'vllm-0.32.0-plain/metrics-abort-12s': [['0', 0, 0, 0, 0, 697, 0, 697, 2122, 262144, 34, 15.194697141647339]],
  'vllm-0.32.0-plain/metrics-abort-2s': [['0', 0, 0, 0, 0, 697, 0, 697, 2122, 262144, 34, 15.194697141647339]],
  'vllm-0.32.0-plain/metrics-after-load': [['0', 0, 0, 0, 0, 683, 0, 683, 1956, 262144, 33, 15.180941104888916]],
  'vllm-0.32.0-plain/metrics-after-requests': [['0', 0, 0, 0, 0, 467, 0, 467, 456, 262144, 27, 14.899099588394165]],
  'vllm-0.32.0-plain/metrics-filtered': [['0', 0, 0, 0, 0, 467, 0, 467, 456, 262144, 27, 14.899099588394165]],
  'vllm-0.32.0-plain/metrics-gzip': [['0', 0, 0, 0, 0, 467, 0, 467, 456, 262144, 27, 14.899099588394165]],
  'vllm-0.32.0-plain/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 262144, 0, 0]],
  'vllm-0.32.0-plain/metrics-load': [
    ['0', 0.008793356130923358, 6, 0, 0, 683, 0, 683, 1879, 262144, 33, 15.180941104888916],
  ],
  'vllm-0.32.0-plain/metrics-load2': [['0', 0, 0, 0, 0, 683, 0, 683, 1956, 262144, 33, 15.180941104888916]],
  'vllm-0.32.0-plain/metrics-openmetrics': [['0', 0, 0, 0, 0, 467, 0, 467, 456, 262144, 27, 14.899099588394165]],
  'vllm-0.32.0-plain2/metrics-abort': [['0', 0, 0, 0, 0, 571, 0, 571, 24000, 262144, 16, 187.714097738266]],
  'vllm-0.32.0-plain2/metrics-after-load': [['0', 0, 0, 0, 0, 357, 0, 357, 15000, 262144, 10, 158.1326208114624]],
  'vllm-0.32.0-plain2/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 262144, 0, 0]],
  'vllm-0.32.0-plain2/metrics-load': [
    ['0', 0.0039081582804103565, 4, 6, 0, 143, 0, 143, 517, 262144, 4, 0.29827094078063965],
  ],
  'vllm-0.32.0-plain2/metrics-load2': [
    ['0', 0.005862237420615535, 4, 6, 0, 143, 0, 143, 1181, 262144, 4, 0.29827094078063965],
  ],
  'vllm-0.32.0-preempt/metrics-after-preempt': [['0', 0, 0, 0, 29, 472, 0, 472, 3680, 768, 14, 11.953245878219604]],
  'vllm-0.32.0-preempt/metrics-idle': [['0', 0, 0, 0, 0, 0, 0, 0, 0, 768, 0, 0]],
  'vllm-0.32.0-preempt/metrics-load': [
    ['0', 0.8695652173913043, 3, 8, 2, 398, 0, 398, 1099, 768, 12, 1.2242069244384766],
  ],
  'vllm-0.32.0-preempt/metrics-load2': [['0', 0, 0, 0, 29, 472, 0, 472, 3680, 768, 14, 11.953245878219604]],
  'vllm-0.32.0-preempt/metrics-load3': [['0', 0, 0, 0, 29, 472, 0, 472, 3680, 768, 14, 11.953245878219604]],
  'vllm-0.8.5-v0-hidden/metrics-abort': [['', 0, 0, 0, 82, null, null, 9423, 2868, 768, 105, 30.155189514160156]],
  'vllm-0.8.5-v0-hidden/metrics-after-preempt': [
    ['', 0, 0, 0, 82, null, null, 9409, 2568, 768, 104, 30.145647525787354],
  ],
  'vllm-0.8.5-v0-hidden/metrics-load1': [
    ['', 0.8333333333333334, 5, 7, 36, null, null, 3137, 940, 768, 51, 1.5906107425689697],
  ],
  'vllm-0.8.5-v0-hidden/metrics-load2': [
    ['', 0.6666666666666667, 3, 5, 55, null, null, 6494, 1547, 768, 72, 10.958874940872192],
  ],
  'vllm-0.8.5-v0-hidden/metrics-load3': [
    ['', 0.8541666666666666, 4, 0, 78, null, null, 8835, 2240, 768, 100, 29.902332067489624],
  ],
  'vllm-0.8.5-v0-hidden/metrics-slash': [['', 0, 0, 0, 82, null, null, 9423, 2868, 768, 105, 30.155189514160156]],
  'vllm-0.8.5-v0/metrics-abort': [['', 0, 0, 0, 158, null, null, 21415, 3787, 768, 181, 3289.75888466835]],
  'vllm-0.8.5-v0/metrics-after-preempt': [['', 0, 0, 0, 158, null, null, 21401, 3776, 768, 180, 3289.739767074585]],
  // One info metric and nothing else until the first request.
  'vllm-0.8.5-v0/metrics-idle': [],
  'vllm-0.8.5-v0/metrics-load1': [['', 0.0625, 1, 0, 0, null, null, 197, 177, 768, 11, 8.21729850769043]],
  'vllm-0.8.5-v0/metrics-load2': [['', 0.1875, 3, 0, 0, null, null, 270, 179, 768, 13, 11.254767894744873]],
  'vllm-0.8.5-v0/metrics-load3': [['', 0.75, 12, 0, 0, null, null, 598, 188, 768, 22, 25.830604314804077]],
  'vllm-0.8.5-v0/metrics-load4': [['', 0.75, 12, 0, 0, null, null, 598, 236, 768, 22, 25.830604314804077]],
  'vllm-0.8.5-v0/metrics-load6': [['', 0.75, 12, 0, 0, null, null, 598, 272, 768, 22, 25.830604314804077]],
  'vllm-0.8.5-v0/metrics-slash': [['', 0, 0, 0, 158, null, null, 21415, 3787, 768, 181, 3289.75888466835]],
};

export const SGLANG_PAGES: Readonly<Record<string, readonly Row[]>> = {
  // token_usage has two digits; prefix queries are the prompt tokens of finished requests, streamed (122) or not (49);
  // the first-token times of requests that do not stream are left out.
  'sglang-0.5.23/metrics-idle': [['', 0, 0, 0, null, null, null, null, null, 8192, null, null]],
  'sglang-0.5.23/metrics-after-streams': [['', 0, 0, 0, null, 171, 122, 171, 86, 8192, 9, 0.6284964630012837]],
  'sglang-0.5.23/load8-metrics-during': [['', 0.07, 8, 0, null, 171, 122, 171, 86, 8192, 17, 1.6252201630013587]],
  'sglang-0.5.23/load8-metrics-after': [['', 0, 0, 0, null, 691, 131, 691, 1686, 8192, 17, 1.6252201630013587]],
};

export const DYNAMO_PAGES: Readonly<Record<string, readonly Row[]>> = {
  'dynamo-1.6.1-mocker/worker-load-1': [['0', 0.9375, 12, 2, 2, null, null, null, null, null, 18, 0.626574701]],
  'dynamo-1.6.1-mocker/worker-load-2': [['0', 0.984375, 9, 5, 5, null, null, null, null, null, 18, 0.626574701]],
  'dynamo-1.6.1-mocker/worker-load-3': [['0', 0.984375, 7, 7, 7, null, null, null, null, null, 18, 0.626574701]],
  'dynamo-1.6.1-mocker/worker-after': [['0', 0.515625, 2, 0, 26, null, null, null, null, null, 18, 0.626574701]],
  // Before the engine's families are born; no model is named yet.
  'dynamo-1.6.1-mocker/worker-idle': [['', null, 0, null, null, null, null, null, null, null, null, null]],
  // Its stages name no model, and there is one. Cached tokens are counted when a request ends.
  'dynamo-1.6.1-mocker/frontend-load': [['', null, 14, 0, null, 756, 0, 756, 1332, 1024, 14, 0.707013125]],
  'dynamo-1.6.1-mocker/frontend-after': [['', null, 0, 0, null, 756, 576, 756, 3500, 1024, 14, 0.707013125]],
  // 64 blocks of 16 tokens.
  'dynamo-1.6.1-mocker/frontend-idle': [['', null, null, null, null, null, null, null, null, 1024, null, null]],
};

export const LLAMACPP_PAGES: Readonly<Record<string, readonly Row[]>> = {
  // prompt_tokens_total leaves out the 12 tokens that came from the cache: 34 were looked up.
  'llamacpp-2026.10.11549/metrics-idle': [['', null, 0, 0, null, 0, 0, 0, 0, null, null, null]],
  'llamacpp-2026.10.11549/metrics-after': [['', null, 0, 0, null, 34, 12, 22, 40, null, null, null]],
  'llamacpp-2026.10.11549/metrics-load': [['', null, 2, 1, null, 34, 12, 22, 40, null, null, null]],
};
