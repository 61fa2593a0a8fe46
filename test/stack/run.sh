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

source test/support/process-groups.sh

npm run --silent build
npx vitest run --config test/stack/vitest.config.ts "$@"
