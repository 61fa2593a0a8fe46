# Sourced by the suites that start real programs. Every program that a test starts leaves its process group's number in
# this folder while it runs; whatever is left when the tests are over, however they ended, is killed.
PROBE_TEST_GROUPS=$(mktemp -d)
export PROBE_TEST_GROUPS
end_groups() {
  for file in "$PROBE_TEST_GROUPS"/*; do
    [ -e "$file" ] || continue
    kill -KILL -- "-$(basename "$file")" 2>/dev/null || true
  done
  rm -rf "$PROBE_TEST_GROUPS"
}
trap end_groups EXIT
trap 'exit 130' INT TERM
