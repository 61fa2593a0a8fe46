#!/usr/bin/env bash
# Runs the suites against real engines: run.sh [ENGINE...] [-- VITEST ARGUMENTS]; without a name, vLLM.
# An engine that is not installed is installed first (minutes, once), unless PROBE_TEST_NO_INSTALL=1 is set:
# then its suite is skipped loudly, never passed.
set -euo pipefail
cd "$(dirname "$0")/../.."

engines=()
while [ $# -gt 0 ] && [ "$1" != "--" ]; do engines+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#engines[@]} -gt 0 ] || engines=(vllm)

source test/support/process-groups.sh

npm run --silent build
status=0
for engine in "${engines[@]}"; do
  if [ "${PROBE_TEST_NO_INSTALL:-}" != 1 ] && ! bash "test/engines/install/$engine.sh" > /dev/null; then
    echo "FAILED: the install of $engine did not succeed" >&2
    status=1
    continue
  fi
  npx vitest run --config test/engines/vitest.config.ts "test/engines/$engine" "$@" || status=1
done
exit "$status"
