#!/usr/bin/env bash
# Builds kube-score, which judges manifests as a whole; prints the folder with the program. About 80 seconds, once.
source "$(dirname "$0")/../../engines/install/common.sh"

version="1.20.0"
target="$cache_root/kube-score-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"
{
  CGO_ENABLED=0 GOBIN="$target" go install "github.com/zegl/kube-score/cmd/kube-score@v$version"
  touch "$target/.complete"
} >&2
echo "$target"
