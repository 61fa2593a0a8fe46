#!/usr/bin/env bash
# Installs SGLang for the CPU into the cache and prints the path of its virtual environment.
# The published wheel wants GPU packages; sglang.txt lists what the CPU path imports, and the compiled kernels are
# replaced by a stand-in that has the one function which the torch-native path really calls.
source "$(dirname "$0")/common.sh"

version="${1:-0.5.23}"
target="$cache_root/sglang-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  "$target/bin/pip" install --quiet --no-cache-dir --no-deps -r "$(dirname "$0")/sglang.txt" "sglang==$version"
  site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  mkdir -p "$target/stand-in"
  cp -r "$(dirname "$0")/sglang/sgl_kernel" "$target/stand-in/"
  echo "$target/stand-in" > "$site/sgl-kernel-stand-in.pth"
  touch "$target/.complete"
} >&2
echo "$target"
