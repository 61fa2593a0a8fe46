#!/usr/bin/env bash
# Everything that must hold before a change is merged; `npm run check`. Runs all steps, also after one has failed, and
# says at the end which did. CHECK_SKIP_TESTS=1 leaves the tests out where another step has run them.
set -uo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"

failed=()
step() {
  local name="$1"
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

# With a parser missing it reports "no violations (0 modules)" and succeeds, so the number of modules is checked too.
import_rules() {
  local output modules
  output=$(depcruise --config .dependency-cruiser.json src 2>&1) || { echo "$output"; return 1; }
  modules=$(echo "$output" | sed -n 's/.*(\([0-9]*\) modules.*/\1/p')
  echo "$output" | tail -1
  [ "${modules:-0}" -gt 50 ] || { echo "only ${modules:-0} modules were read: the rules were not checked"; return 1; }
}

step 'format and lint' biome ci --error-on-warnings .
step 'types' tsc --noEmit
step 'import rules' import_rules
step 'unused code' knip
step 'generated files' npm run --silent generate -- --check
step 'licences' node scripts/licences.mjs
step 'hygiene' node scripts/hygiene.mjs
[ "${CHECK_SKIP_TESTS:-}" = 1 ] || step 'tests' vitest run

if [ ${#failed[@]} -gt 0 ]; then
  echo "check failed: ${failed[*]}" >&2
  exit 1
fi
echo 'check passed'
