#!/usr/bin/env bash
# Rules, pages and boards on a real Prometheus and a real Alertmanager: run.sh [prometheus3] [-- VITEST ARGUMENTS].
# Without an argument the programs of the distribution; with it, those that install/prometheus3.sh has built.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" = prometheus3 ]; then
  shift
  programs=$(bash test/stack/install/prometheus3.sh)
  export STACK_PROMETHEUS="$programs/prometheus" STACK_PROMTOOL="$programs/promtool"
  export STACK_ALERTMANAGER="$programs/alertmanager" STACK_AMTOOL="$programs/amtool"
fi
[ "${1:-}" = "--" ] && shift

PROBE_TEST_GROUPS=$(mktemp -d)
export PROBE_TEST_GROUPS
end_groups() {
  for file in "$PROBE_TEST_GROUPS"/*; do
    [ -e "$file" ] || continue
    kill -KILL -- "-$(basename "$file")" 2>/dev/null || true
  done
  rm -rf "$PROBE_TEST_GROUPS"
}
trap end_groups EXIT
trap 'exit 130' INT TERM

npm run --silent build
npx vitest run --config test/stack/vitest.config.ts "$@"
