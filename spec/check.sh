#!/usr/bin/env bash
# Checks the documents with tools of others: Redocly CLI lints them (redocly.yaml), and oasdiff refuses a change since the
# commit before that breaks clients, unless breaking.txt gives a reason for it. SPEC_BASE names another commit.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${SPEC_BASE:-HEAD~1}

if command -v npx >/dev/null; then
	# The documents of the other editions are linted as they are served.
	served=$(mktemp -d)
	trap 'rm -rf "$served"' EXIT
	for overlay in spec/editions/*.overlay.yaml; do
		edition=$(basename "$overlay" .overlay.yaml) document=rest
		for other in queue worker; do [ "${edition%."$other"}" = "$edition" ] || document=$other; done
		edition=${edition%."$document"}
		go run -pgo=off ./cmd/berth spec show "$document" --contract "$edition" >"$served/$edition.$document.json"
	done
	export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
	npx --yes @redocly/cli@2.77.0 lint --config spec/redocly.yaml spec/rest.yaml spec/queue.yaml spec/worker.yaml spec/controls.yaml
	npx --yes @redocly/cli@2.77.0 lint --config spec/redocly.yaml --skip-rule path-http-verbs-order "$served"/*.json # JSON's members are sorted
else
	echo "SKIPPED: Redocly CLI needs Node and npm"
fi

if ! git rev-parse --verify --quiet "$base^{commit}" >/dev/null; then
	echo "SKIPPED: oasdiff needs the commit $base, which this clone does not have"
	exit
fi
for document in rest queue worker controls; do
	if ! git cat-file -e "$base:spec/$document.yaml" 2>/dev/null; then
		echo "SKIPPED: $base has no spec/$document.yaml to compare with"
		continue
	fi
	go run github.com/oasdiff/oasdiff@v1.28.0 breaking "$base:spec/$document.yaml" "spec/$document.yaml" --fail-on WARN \
		--err-ignore spec/breaking.txt --warn-ignore spec/breaking.txt --format singleline
done
