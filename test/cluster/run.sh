#!/usr/bin/env bash
# Manifests and chart on a real Kubernetes API server, and under linters: run.sh [-- VITEST ARGUMENTS].
# What is missing is installed first. With PROBE_TEST_NO_INSTALL=1 only what takes seconds is; a program that is not
# there then has its tests skipped loudly, never passed.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${1:-}" = "--" ] && shift

cache_root="${PROBE_TEST_CACHE:-$HOME/.cache/inference-probe-exporter}"
# have VARIABLE SCRIPT CACHE_PREFIX cheap|slow: the folder of the programs in VARIABLE, empty when there is none.
have() {
  local folder=""
  if [ "$4" = cheap ] || [ "${PROBE_TEST_NO_INSTALL:-}" != 1 ] || compgen -G "$cache_root/$3-*/.complete" > /dev/null; then
    folder=$(bash "test/cluster/install/$2.sh") || { echo "SKIPPED: the install of $2 did not succeed" >&2; folder=""; }
  fi
  export "$1=$folder"
}
have CLUSTER_TOOLS helm-kubectl helm-kubectl cheap
have CLUSTER_LINTERS linters cluster-linters cheap
have CLUSTER_KUBE_SCORE kube-score kube-score slow
have CLUSTER_SERVER apiserver apiserver slow

source test/support/process-groups.sh

npm run --silent build
npx vitest run --config test/cluster/vitest.config.ts "$@"
