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
  # Their release builds put the version in; the module 0.316.0 of Prometheus is the release 3.16.0.
  stamp="-X github.com/prometheus/common/version.Version"
  as_prometheus=(-tags remove_all_sd -ldflags "$stamp=3.${prometheus#0.3}")
  as_alertmanager=(-ldflags "$stamp=$alertmanager")
  # Without this tag every cloud's service discovery is compiled as well: a quarter of an hour for nothing used here.
  go install "${as_prometheus[@]}" "github.com/prometheus/prometheus/cmd/prometheus@v$prometheus"
  go install "${as_prometheus[@]}" "github.com/prometheus/prometheus/cmd/promtool@v$prometheus"
  go install "${as_alertmanager[@]}" "github.com/prometheus/alertmanager/cmd/amtool@v$alertmanager"
  # The module lacks the built web page that the server embeds, so the server is built from a copy that has one.
  source_dir=$(cd "$build" && go mod download -json "github.com/prometheus/alertmanager@v$alertmanager" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  cp -r "$source_dir" "$build/alertmanager"
  chmod -R u+w "$build/alertmanager"
  mkdir -p "$build/alertmanager/ui/app/dist"
  echo '<!doctype html><title>Alertmanager</title>' > "$build/alertmanager/ui/app/dist/index.html"
  (cd "$build/alertmanager" && go build "${as_alertmanager[@]}" -o "$target/alertmanager" ./cmd/alertmanager)
  rm -rf "$build"
  touch "$target/.complete"
} >&2
echo "$target"
