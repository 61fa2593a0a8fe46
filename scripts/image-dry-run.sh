#!/usr/bin/env bash
# The steps of the Dockerfile without a container engine: builds from nothing but the files that the Dockerfile copies,
# puts what the image would hold into an empty folder, and runs it as the image's user with a read-only root, its own
# network and no capabilities. As root with user-space tools for it; as anybody else without the isolation, and says so.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
user=65532
port=20061

say() { printf '== %s\n' "$*"; }

say 'build stage: only what the Dockerfile copies'
mkdir -p "$work/build" "$work/app"
# COPY lines of the first stage: sources, then the destination.
awk '/^FROM / { stage += 1 } stage == 1 && $1 == "COPY" { print }' "$root/Dockerfile" > "$work/copies"
while read -r _ words; do
  read -r -a list <<< "$words"
  destination="${list[-1]}"
  for source in "${list[@]:0:${#list[@]}-1}"; do
    case "$destination" in
      ./) cp -r "$root/$source" "$work/build/" ;;
      *) mkdir -p "$work/build/$(dirname "$destination")" && cp -r "$root/$source" "$work/build/$destination" ;;
    esac
  done
done < "$work/copies"
# npm ci gives the same packages, as its lock file says; the checkout's own are taken to save the time.
ln -s "$root/node_modules" "$work/build/node_modules"
(cd "$work/build" && INFERENCE_PROBE_REVISION=dry-run node scripts/build.mjs)

say 'image: bundle, source map, licence notices, licence'
cp "$work"/build/dist/* "$root/LICENSE" "$work/app/"
find "$work/app" -type f -printf '%f %s bytes\n' | sort
chmod -R a=rX "$work" "$work/app"

# The variables of the image, from its ENV instruction.
image_env=$(awk '/^ENV / { on = 1 } on { print } on && !/\\$/ { on = 0 }' "$root/Dockerfile" | sed 's/^ENV //; s/ *\\$//')
case "$image_env" in *NODE_OPTIONS=*MALLOC_*) ;; *) echo 'the Dockerfile sets no options of Node and malloc' >&2; exit 1 ;; esac
node=$(command -v node)
isolated=0
if [ "$(id -u)" -eq 0 ] && unshare --mount --net true 2> /dev/null && command -v setpriv > /dev/null && command -v ip > /dev/null; then
  isolated=1
else
  echo 'SKIPPED: other user, read-only root and own network (needs root, unshare, setpriv and ip)'
  port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
fi

# What runs inside; its own script, because it runs in other namespaces.
cat > "$work/inside.sh" <<'INSIDE'
set -euo pipefail
cd "$APP"
program() { "$NODE" "$APP/inference-probe.mjs" "$@"; }
[ "$ISOLATED" = 0 ] || ! touch "$APP/written" 2> /dev/null || { echo 'the root is not read-only' >&2; exit 1; }
program --version
program check > /dev/null
"$NODE" "$APP/inference-probe.mjs" serve --web.listen-address=":$PORT" 2> /dev/null &
pid=$!
health() {
  "$NODE" -e "fetch('http://127.0.0.1:$PORT/-/healthy').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"
}
for _ in $(seq 1 100); do health && break; sleep 0.2; done
health
[ "$ISOLATED" = 0 ] || grep -E '^(Uid|CapEff|NoNewPrivs):' "/proc/$pid/status"
grep -E '^(VmRSS|RssAnon):' "/proc/$pid/status"
start=$(date +%s%N)
kill -TERM "$pid"
wait "$pid"
echo "healthy, and stopped with 0 in $((($(date +%s%N) - start) / 1000000)) ms"
INSIDE
chmod a+r "$work/inside.sh"

say "run as user $user"
export APP="$work/app" NODE="$node" PORT="$port" ISOLATED="$isolated"
while IFS= read -r pair; do eval "export $pair"; done <<< "$image_env"
if [ "$isolated" = 1 ]; then
  unshare --mount --net sh -c 'ip link set lo up && mount -o remount,bind,ro / && exec "$@"' sh \
    setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
    bash "$work/inside.sh"
else
  bash "$work/inside.sh"
fi
