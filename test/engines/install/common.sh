# Shared by the install scripts: where real engines are kept, and how a finished install is recognised.
# Installs live outside the checkout, keyed by version, so a second run costs nothing.
set -euo pipefail

cache_root="${PROBE_TEST_CACHE:-$HOME/.cache/inference-probe-exporter}"
mkdir -p "$cache_root"

# finished DIR: true when an earlier run completed DIR (a half-written install is never used).
finished() { [ -f "$1/.complete" ]; }

# start_over DIR: removes what an interrupted run left and makes the folder anew.
start_over() { rm -rf "$1" && mkdir -p "$1"; }

# wheel_requirements WHEEL SKIP_REGEX: the wheel's requirements without extras and without names that SKIP_REGEX matches.
wheel_requirements() {
  python3 - "$1" "$2" <<'PY'
import re, sys, zipfile
wheel, skip = sys.argv[1:3]
with zipfile.ZipFile(wheel) as archive:
    name = next(n for n in archive.namelist() if n.endswith('.dist-info/METADATA'))
    for line in archive.read(name).decode().splitlines():
        if not line.startswith('Requires-Dist:') or 'extra ==' in line:
            continue
        requirement = line.split(':', 1)[1].strip()
        if re.match(skip, requirement):
            continue
        print(requirement)
PY
}
