#!/usr/bin/env bash
# Installs SGLang for the CPU into the cache and prints the path of its virtual environment.
# The published wheel wants GPU packages; the CPU path needs none of them, so its imports are installed by name, and
# the compiled kernels are replaced by a stand-in that has the one function which the torch-native path really calls.
source "$(dirname "$0")/common.sh"

version="${1:-0.5.23}"
target="$cache_root/sglang-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  pip() { "$target/bin/pip" install --quiet --no-cache-dir "$@"; }
  torch="torch==2.14.1"
  echo "$torch" > "$target/constraints.txt"
  pip "$torch" transformers==5.19.0 tokenizers==0.23.2 numpy==2.4.6
  pip --no-deps "sglang==$version" torchvision==0.29.2 compressed-tensors==0.18.0 xgrammar==0.2.7 soundfile==0.13.1 dill loguru
  pip --constraint "$target/constraints.txt" \
    aiohttp fastapi 'uvicorn>=0.51' uvloop orjson msgspec partial_json_parser pillow prometheus-client psutil pybase64 \
    pydantic python-multipart pyzmq requests setproctitle openai==2.8.0 einops zstandard watchfiles IPython scipy \
    sentencepiece==0.2.1 tiktoken nvidia-ml-py gguf apache-tvm-ffi==0.1.11 jsonschema cffi
  site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  mkdir -p "$target/stand-in"
  cp -r "$(dirname "$0")/sglang/sgl_kernel" "$target/stand-in/"
  echo "$target/stand-in" > "$site/sgl-kernel-stand-in.pth"
  touch "$target/.complete"
} >&2
echo "$target"
