/** One file for each way to be wrong, with all errors that it must give. `<dir>` stands for the folder of the files. */
export interface InvalidFile {
  readonly id: string;
  readonly errors: readonly string[];
}

export const INVALID_FILES: readonly InvalidFile[] = [
  { id: 'alias-bomb', errors: ['YAML: aliases multiply too far'] },
  { id: 'api-of-another-engine', errors: ['4:10: targets[0].api: tgi is not offered by engine vllm'] },
  {
    id: 'azure-without-model',
    errors: [
      '2:5: targets[0].model: must be named with api: azure, where it is the name of the deployment and cannot be listed',
    ],
  },
  { id: 'bad-cron', errors: ['1:35: profiles[0].schedule: cannot be used: expected 5 or 6 fields but got 2'] },
  { id: 'bad-indent', errors: ['3:1: YAML: is indented differently from its neighbours'] },
  { id: 'bad-pattern', errors: ['1:54: profiles[0].expect.pattern: is not a JavaScript regular expression'] },
  {
    id: 'between-tokens-beyond-total',
    errors: [
      '3:33: profiles[0].deadlines.between_tokens: (30s) is beyond deadlines.total (10s), so it can never pass: lower it or raise total',
    ],
  },
  { id: 'bounds-negative', errors: ['1:25: buckets.gap_seconds[0]: must be above 0'] },
  { id: 'bounds-not-ascending', errors: ['1:36: buckets.ttft_seconds[2]: must be above the bound before it'] },
  {
    id: 'cert-without-key',
    errors: ['5:24: targets[0].connection.tls.cert_file: stands without key_file: a client certificate needs both'],
  },
  { id: 'custom-tag', errors: ['4:19: YAML: tags are not supported here'] },
  {
    id: 'default-every-below-total',
    errors: [
      '3:24: profiles[0].deadlines.total: the interval (15s) is below deadlines.total (20s): a slow probe makes the next ticks be skipped; probe less often, lower deadlines.total, or say allow_overlap: true',
    ],
  },
  { id: 'duplicate-key', errors: ['2:1: YAML: the key is given twice'] },
  {
    id: 'duplicate-profile-of-target',
    errors: ['4:28: targets[0].profiles[2]: is a second profile "cold" of this target: names must differ'],
  },
  {
    id: 'duplicate-shared-profile',
    errors: ['3:11: profiles[1].name: is a second shared profile "cold": names must differ'],
  },
  { id: 'duplicate-target', errors: ['4:11: targets[1].name: is the name of targets[0] already: names must differ'] },
  {
    id: 'duration-nonsense',
    errors: [
      '1:32: profiles[0].every: is not a duration: write a number with its unit, such as 500ms, 15s, 2m or 1h30m',
    ],
  },
  { id: 'duration-too-long', errors: ['1:44: profiles[0].deadlines.total: must be at most 1h'] },
  {
    id: 'duration-without-unit',
    errors: ['1:32: profiles[0].every: must be a duration with its unit, such as 15s or 500ms, not a number'],
  },
  { id: 'empty-value', errors: ['4:18: targets[0].api_key_file: must be the path of a file, not an empty value'] },
  { id: 'empty', errors: ['is empty: a configuration has at least `targets`'] },
  {
    id: 'every-below-total',
    errors: [
      '3:12: profiles[0].every: the interval (10s) is below deadlines.total (20s): a slow probe makes the next ticks be skipped; probe less often, lower deadlines.total, or say allow_overlap: true',
    ],
  },
  { id: 'every-too-short', errors: ['1:32: profiles[0].every: must be at least 200ms'] },
  { id: 'family', errors: ['4:26: targets[0].connection.family: must be 4, 6 or auto'] },
  {
    id: 'first-token-beyond-default-total',
    errors: [
      '3:30: profiles[0].deadlines.first_token: (90s) is beyond deadlines.total (1m) (its default), so it can never pass: lower it or raise total',
    ],
  },
  {
    id: 'first-token-beyond-total',
    errors: [
      '4:20: profiles[0].deadlines.first_token: (40s) is beyond deadlines.total (20s), so it can never pass: lower it or raise total',
    ],
  },
  { id: 'header-name', errors: ['4:15: targets[0].headers["x tenant"]: is not a header name'] },
  { id: 'header-reserved', errors: ['4:15: targets[0].headers.Host: cannot be set: the HTTP client sets it itself'] },
  {
    id: 'header-twice',
    errors: ['5:20: targets[0].header_files.X-Tenant: is given twice: header names do not differ by case'],
  },
  { id: 'header-value', errors: ['4:25: targets[0].headers.x-tenant: must be plain ASCII text'] },
  {
    id: 'headers-beyond-first-token',
    errors: [
      '3:26: profiles[0].deadlines.headers: (10s) is beyond deadlines.first_token (5s), so it can never pass: lower it or raise first_token',
    ],
  },
  {
    id: 'impossible-cron-step',
    errors: [
      '1:35: profiles[0].schedule: cannot be used: a step of 90 does not fit into the second field; use every: instead',
    ],
  },
  { id: 'inline-profile-key', errors: ['6:9: targets[0].profiles[0].evry: is not a key here; did you mean every?'] },
  {
    id: 'jitter-beyond-every',
    errors: ['1:45: profiles[0].jitter: (15s) must be below the interval (15s), else ticks overtake each other'],
  },
  { id: 'key-empty', errors: ['4:19: targets[0].api_key_file: names <dir>/key-empty, which is empty'] },
  {
    id: 'key-in-the-file',
    errors: ['4:5: targets[0].api_key: is not a key here: put the key into a file and name it in api_key_file'],
  },
  {
    id: 'key-with-smart-quotes',
    errors: [
      '4:19: targets[0].api_key_file: names <dir>/key-smart-quotes, which holds a character that is not ASCII at character 1; save the key alone, without smart quotes, as plain text',
    ],
  },
  {
    id: 'key-with-two-lines',
    errors: [
      '4:19: targets[0].api_key_file: names <dir>/key-two-lines, which holds a line end inside the key at character 10; save the key alone, without smart quotes, as plain text',
    ],
  },
  {
    id: 'kv-cache-half',
    errors: [
      '4:5: targets[0].kv_cache: needs capacity_tokens, or memory with layers, kv_heads, head_dim and dtype_bytes',
    ],
  },
  { id: 'listen-address', errors: ['1:23: web.listen_address: must be host:port, :port or [v6]:port'] },
  { id: 'listen-port', errors: ['1:23: web.listen_address: has a port above 65535'] },
  {
    id: 'metrics-url-userinfo',
    errors: [
      '4:20: targets[0].metrics.url: must not hold a user name or password: put the whole value (such as "Basic ...") into a file and name it in header_files.authorization',
    ],
  },
  {
    id: 'min-tokens-beyond-max',
    errors: ['4:26: profiles[0].expect.min_tokens: (64) is above max_tokens (32), so every probe would fail'],
  },
  { id: 'missing-name', errors: ['2:5: targets[0].name: is missing: give a name'] },
  { id: 'missing-url', errors: ['2:5: targets[0].url: is missing: give a URL'] },
  { id: 'no-target-in-list', errors: ['1:10: targets: must hold at least one target'] },
  { id: 'no-targets', errors: ['1:1: targets: is missing: give a list of targets'] },
  { id: 'not-a-mapping', errors: ['1:1: must be a mapping of keys to values, not a list'] },
  { id: 'not-an-integer', errors: ['1:40: profiles[0].prompt_tokens: must be a whole number'] },
  { id: 'number-out-of-range', errors: ['1:37: profiles[0].max_tokens: must be at least 1'] },
  {
    id: 'objective-in-percent',
    errors: ['1:33: slo.availability.objective: must be below 1: write 0.99 for 99 %, and nothing is ever 100 %'],
  },
  {
    id: 'peak-below-every',
    errors: ['4:40: targets[0].metrics.peak_window: (1m) is below metrics.every (90s): there would be no peak in it'],
  },
  {
    id: 'profile-name',
    errors: [
      '1:19: profiles[0].name: must start with a letter or digit and hold only letters, digits, "_", "." and "-"',
    ],
  },
  {
    id: 'profile-neither-name-nor-mapping',
    errors: ['4:16: targets[0].profiles[0]: must be the name of a shared profile, or a mapping that describes one'],
  },
  { id: 'proxy-url', errors: ['4:29: targets[0].connection.proxy_url: is neither an http:// or https:// URL nor env'] },
  {
    id: 'schedule-and-every',
    errors: ['4:5: profiles[0].schedule: stands beside every: a profile has one of the two'],
  },
  {
    id: 'schedule-below-total',
    errors: [
      '3:15: profiles[0].schedule: the interval (10s) is below deadlines.total (20s): a slow probe makes the next ticks be skipped; probe less often, lower deadlines.total, or say allow_overlap: true',
    ],
  },
  { id: 'size-nonsense', errors: ['4:26: targets[0].metrics.max_bytes: is not a size: write a size such as 32MiB'] },
  {
    id: 'stale-below-every',
    errors: [
      '4:40: targets[0].metrics.stale_after: (5s) is not above metrics.every (10s): the series would vanish between polls',
    ],
  },
  { id: 'tab-indent', errors: ['2:1: YAML: a tab cannot indent YAML; use spaces'] },
  { id: 'target-name-control', errors: ['2:11: targets[0].name: must not hold control characters or line ends'] },
  {
    id: 'telemetry-path',
    errors: [
      '1:23: web.telemetry_path: is a path that the program serves for something else; the usual one is /metrics',
    ],
  },
  {
    id: 'tls-without-https',
    errors: ['5:13: targets[0].connection.tls.ca_file: has no effect on an http:// URL: write https:// or remove it'],
  },
  { id: 'two-documents', errors: ['4:1: YAML: a second YAML document starts here; the configuration is one document'] },
  { id: 'two-keys', errors: ['5:5: targets[0].api_key_env: stands beside api_key_file: a target has one key'] },
  { id: 'unclosed-quote', errors: ['4:1: YAML: a character is missing here: a colon, a quote or a bracket'] },
  { id: 'unknown-alias', errors: ['2:5: YAML: the alias has no anchor before it'] },
  {
    id: 'unknown-api',
    errors: [
      '4:10: targets[0].api: must be one of auto, completions, chat, responses, messages, azure, sglang, tgi, llamacpp, ollama',
    ],
  },
  {
    id: 'unknown-engine',
    errors: [
      '4:13: targets[0].engine: must be one of auto, vllm, sglang, tensorrt-llm, triton, tgi, llamacpp, lmdeploy, nim, dynamo, ray-serve, kserve, llm-d-inference-sim, ollama, unknown',
    ],
  },
  {
    id: 'unknown-key-nested',
    errors: ['4:15: targets[0].metrics.stale_afer: is not a key here; did you mean stale_after?'],
  },
  { id: 'unknown-key-profile', errors: ['3:5: profiles[0].max_token: is not a key here; did you mean max_tokens?'] },
  { id: 'unknown-key-top', errors: ['1:1: target: is not a key here; did you mean targets?'] },
  { id: 'unknown-level', errors: ['1:14: log.level: must be one of debug, info, warn, error'] },
  {
    id: 'unknown-profile',
    errors: ['4:16: targets[0].profiles[0]: names a profile that is not described; did you mean cold?'],
  },
  {
    id: 'unset-key-variable',
    errors: ['4:18: targets[0].api_key_env: names SURELY_NOT_SET_ANYWHERE, which is not set in the environment'],
  },
  {
    id: 'unset-variable',
    errors: ['4:12: targets[0].model: refers to the environment variable SURELY_NOT_SET_ANYWHERE, which is not set'],
  },
  { id: 'url-fragment', errors: ['1:26: targets[0].url: must not hold a fragment (#...)'] },
  { id: 'url-no-scheme', errors: ['1:26: targets[0].url: is not an http:// or https:// URL'] },
  {
    id: 'url-query',
    errors: [
      '1:26: targets[0].url: must not hold a query: a key belongs into a file named in api_key_file or header_files',
    ],
  },
  { id: 'url-scheme', errors: ['1:26: targets[0].url: is not an http:// or https:// URL'] },
  {
    id: 'url-userinfo',
    errors: [
      '1:26: targets[0].url: must not hold a user name or password: put the whole value (such as "Basic ...") into a file and name it in header_files.authorization',
    ],
  },
  {
    id: 'url-with-api-path',
    errors: [
      '1:26: targets[0].url: must be the base URL, without /chat/completions: the path of the API is added by the probe',
    ],
  },
  {
    id: 'variable-with-default',
    errors: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the message shows the form itself.
      '4:12: targets[0].model: holds ${ that is no reference such as ${NAME}; write $${ for the characters themselves',
    ],
  },
  { id: 'web-config-missing', errors: ['1:24: web.web_config_file: names <dir>/nowhere.yml, which does not exist'] },
  { id: 'wrong-kind-flag', errors: ['1:9: paused: must be true or false, not a string'] },
  { id: 'wrong-kind-list', errors: ['2:3: targets: must be a list of targets, not a mapping'] },
  { id: 'wrong-kind-number', errors: ['4:20: targets[0].warmup_probes: must be a whole number, not a string'] },
];
