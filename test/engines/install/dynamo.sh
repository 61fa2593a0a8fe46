#!/usr/bin/env bash
# Installs NVIDIA Dynamo's frontend and its simulated vLLM ("mocker") and prints the path of the virtual environment.
# The wheels name GPU packages that the frontend and the mocker never import; dynamo.txt lists what they do import.
source "$(dirname "$0")/common.sh"

version="${1:-1.6.1}"
target="$cache_root/dynamo-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  "$target/bin/pip" install --quiet --no-cache-dir --no-deps --only-binary :all: -r "$(dirname "$0")/dynamo.txt" \
    "ai-dynamo==$version" "ai-dynamo-runtime==$version"
  "$target/bin/python" -c 'import dynamo.frontend, dynamo.mocker'
  touch "$target/.complete"
} >&2
echo "$target"
