#!/usr/bin/env bash
# Holds a berth to what it promises on Kubernetes, over a real API server, scheduler and controller manager with nodes that kwok simulates.
# run.sh BERTH [CACHE]: the programs are built into the cache if it has none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
berth=$1 cache=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/berth-cluster}
command -v etcd >/dev/null || { echo "SKIPPED: etcd is missing (the package etcd-server)"; exit; }
programs=$("$here/build.sh" "$cache")

tmp=$(mktemp -d)
"$here/up.sh" "$programs" "$tmp/cluster" >"$tmp/up" 2>&1 &
up=$!
end() {
	kill $up 2>/dev/null || true
	wait $up 2>/dev/null || true
	rm -rf "$tmp"
}
trap end EXIT
for _ in $(seq 3000); do
	if grep -q ^ready "$tmp/up" || ! kill -0 $up 2>/dev/null; then break; fi
	sleep 0.2
done
server=$(sed -n 's/^ready //p' "$tmp/up")
[ -n "$server" ] || { cat "$tmp/up"; exit 1; }
python3 "$here/check.py" "$berth" "$server" "$tmp/cluster/berth.kubeconfig" $up "$tmp/data" "$programs/helm" || { tail -20 "$tmp/data.log"; exit 1; }
