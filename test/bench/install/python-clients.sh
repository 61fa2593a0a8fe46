#!/usr/bin/env bash
# Installs the Python clients that the bench compares with and prints the path of their virtual environment.
source "$(dirname "$0")/../../engines/install/common.sh"

aiohttp="3.14.5"
httpx="0.28.1"
target="$cache_root/python-clients-aiohttp-$aiohttp-httpx-$httpx"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  "$target/bin/pip" install --quiet --no-cache-dir "aiohttp==$aiohttp" "httpx==$httpx"
  touch "$target/.complete"
} >&2
echo "$target"
