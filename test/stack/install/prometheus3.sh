#!/usr/bin/env bash
# Builds Prometheus 3 with promtool and Alertmanager with amtool from their Go modules into the cache and prints the
# folder of the programs. Debian carries the 2.x line; rules and dashboards have to be right on both.
source "$(dirname "$0")/../../engines/install/common.sh"

prometheus="${1:-0.316.0}"
alertmanager="${2:-0.35.0}"
target="$cache_root/prometheus3-$prometheus-alertmanager-$alertmanager"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

build="$target/.build"
mkdir -p "$build"
{
  export GOBIN="$target" CGO_ENABLED=0
  # Without this tag every cloud's service discovery is compiled as well: a quarter of an hour for nothing used here.
  go install -tags remove_all_sd "github.com/prometheus/prometheus/cmd/prometheus@v$prometheus"
  go install -tags remove_all_sd "github.com/prometheus/prometheus/cmd/promtool@v$prometheus"
  go install "github.com/prometheus/alertmanager/cmd/amtool@v$alertmanager"
  # The module lacks the built web page that the server embeds, so the server is built from a copy that has one.
  source_dir=$(cd "$build" && go mod download -json "github.com/prometheus/alertmanager@v$alertmanager" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  cp -r "$source_dir" "$build/alertmanager"
  chmod -R u+w "$build/alertmanager"
  mkdir -p "$build/alertmanager/ui/app/dist"
  echo '<!doctype html><title>Alertmanager</title>' > "$build/alertmanager/ui/app/dist/index.html"
  (cd "$build/alertmanager" && go build -o "$target/alertmanager" ./cmd/alertmanager)
  rm -rf "$build"
  touch "$target/.complete"
} >&2
echo "$target"
