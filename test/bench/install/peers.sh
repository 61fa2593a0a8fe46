#!/usr/bin/env bash
# Installs a load generator that the bench compares with, from PyPI, and prints the path of its virtual environment:
# peers.sh aiperf|guidellm. Minutes, once, and up to 1.5 GB each.
source "$(dirname "$0")/../../engines/install/common.sh"

name="${1:?aiperf or guidellm}"
case "$name" in
  aiperf) version=0.13.0 ;;
  guidellm) version=0.8.1 ;;
  *) echo "unknown: $name" >&2; exit 2 ;;
esac
target="$cache_root/peer-$name-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"

{
  python3 -m venv "$target"
  # guidellm imports torch, several GB: that of vLLM's install is borrowed where there is one.
  "$target/bin/pip" download --quiet --no-deps --dest "$target/wheels" "$name==$version"
  wheel_requirements "$target/wheels/$name-$version-py3-none-any.whl" '(torch)\b' > "$target/requirements.txt"
  "$target/bin/pip" install --quiet --no-cache-dir -r "$target/requirements.txt"
  "$target/bin/pip" install --quiet --no-cache-dir --no-deps "$target/wheels/$name-$version-py3-none-any.whl"
  rm -rf "$target/wheels"
  if [ "$name" = guidellm ]; then
    site=$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    lender=$(compgen -G "$cache_root/vllm-*/lib/python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/site-packages" | head -n 1 || true)
    if [ -n "$lender" ]; then echo "$lender" > "$site/borrowed-torch.pth"
    else "$target/bin/pip" install --quiet --no-cache-dir torch; fi
    "$target/bin/python" -c 'import guidellm.benchmark'
  fi
  "$target/bin/$name" --help > /dev/null
  touch "$target/.complete"
} >&2
echo "$target"
