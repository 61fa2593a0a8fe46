#!/usr/bin/env bash
# Builds a real Kubernetes API server with etcd from their Go modules, and the custom resource definitions of the
# Prometheus operator from its types; prints the folder. `go install` refuses both programs (their modules replace
# others), so apiserver/ is a small module of our own that has them as tools; the cache is keyed by its go.sum.
source "$(dirname "$0")/../../engines/install/common.sh"

here="$(cd "$(dirname "$0")" && pwd)"
kubernetes="1.37.2"
operator="0.95.2"
generator="0.20.1"
key=$(cat "$here/apiserver/go.mod" "$here/apiserver/go.sum" | sha256sum | cut -c1-12)
target="$cache_root/apiserver-$kubernetes-$key"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

version_flags="-X k8s.io/component-base/version.gitVersion=v$kubernetes"
version_flags+=" -X k8s.io/component-base/version.gitMajor=${kubernetes%%.*}"
version_flags+=" -X k8s.io/component-base/version.gitMinor=$(echo "$kubernetes" | cut -d. -f2)"

{
  cd "$here/apiserver"
  export CGO_ENABLED=0 GOGC=400 GOFLAGS="-mod=readonly ${GOFLAGS:-}"
  # Without optimisation the build takes half the time, and this server serves nobody.
  go build -gcflags='all=-N -l -dwarf=false' -ldflags "-s -w $version_flags" -o "$target/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
  go build -gcflags='all=-N -l -dwarf=false' -ldflags '-s -w' -o "$target/etcd" go.etcd.io/etcd/server/v3

  build="$target/.build"
  mkdir -p "$build" "$target/crds"
  cd "$build"
  GOFLAGS= GOBIN="$build" go install "sigs.k8s.io/controller-tools/cmd/controller-gen@v$generator"
  module="github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v$operator"
  source_dir=$(go mod download -json "$module" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  cp -r "$source_dir" "$build/monitoring"
  chmod -R u+w "$build/monitoring"
  (cd "$build/monitoring" && GOFLAGS= "$build/controller-gen" crd:crdVersions=v1 paths=./v1/. "output:crd:dir=$target/crds")
  rm -rf "$build"
  touch "$target/.complete"
} >&2
echo "$target"
