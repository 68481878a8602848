#!/usr/bin/env bash
# Writes cmd/berth/default.pgo, by which the compiler sees what is hot: processor profiles of a server under the loads of
# `make bench PARTS=requests`, taken while it answers them. To be made anew when the paths of requests have changed much.
set -euo pipefail
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
address=127.0.0.1:${PORT:-6066}
seconds=5

(cd ../.. && go build -buildvcs=false -tags profile -o "$tmp/berth" ./cmd/berth)
go build -buildvcs=false -o "$tmp/bench" .
for row in "/run, 64" "take + done, 64" "/runsync, 64" "/runsync, one" "createPod stored" "createPod refused" "/status, 64"; do
	echo "$row"
	BERTH_PPROF=$address "$tmp/bench" -berth "$tmp/berth" -rounds 1 -length "$((seconds + 2))s" -row "$row" requests >"$tmp/out" &
	bench=$!
	sleep $((seconds + 5)) # its reference comes first
	curl -sf -o "$tmp/${row//[^a-zA-Z]/_}.pb" "http://$address/debug/pprof/profile?seconds=$seconds"
	wait "$bench"
done
go tool pprof -proto "$tmp"/*.pb >../../cmd/berth/default.pgo
