#!/usr/bin/env bash
# Checks the packaging files with the tools that read them, and runs the step of action.yml as a runner does. What is
# installed goes to a directory that is removed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tmp=$(mktemp -d)
pids=()
stop() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; done
	rm -rf "$tmp"
}
trap stop EXIT
fail() { echo "FAILED: $*"; exit 1; }

mkdir -p "$tmp/project/.git" "$tmp/project/.github/workflows" "$tmp/project/deploy"
cp action.yml "$tmp/project"
cp -r deploy/action "$tmp/project/deploy"
cp deploy/action/example.yml "$tmp/project/.github/workflows"
(cd "$tmp/project" && go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12)
echo "ok: a workflow with action.yml, by actionlint"

if python3 -c 'import ensurepip, venv' 2>/dev/null; then
	python3 -m venv "$tmp/venv"
	"$tmp/venv/bin/pip" install --quiet --disable-pip-version-check check-jsonschema==0.39.0
	schema() { "$tmp/venv/bin/check-jsonschema" --builtin-schema "vendor.$1" "$2"; }
	schema github-actions action.yml
	schema github-workflows deploy/action/example.yml
	schema compose-spec deploy/compose.yaml
	schema compose-spec deploy/compose-tls.yaml
	schema compose-spec deploy/compose-replicas.yaml
	"$tmp/venv/bin/python" - deploy/compose-replicas.yaml <<'END' || fail "the replicas of compose-replicas.yaml do not trust the network of their balancer, and no other"
import ruamel.yaml, sys

compose = ruamel.yaml.YAML(typ="safe").load(open(sys.argv[1]))
front, = (one["subnet"] for one in compose["networks"]["front"]["ipam"]["config"])
assert compose["services"]["balancer"]["networks"] == ["front"]
assert [compose["services"][name]["environment"].get("BERTH_TRUSTED_PROXIES") for name in ("berth-1", "berth-2")] == [front, front]
END
	deploy/check-helm.sh "$tmp/venv"
else
	echo "SKIPPED: the schemas of action.yml and the Compose files, and the chart, need Python 3 with venv"
fi

if command -v systemd-analyze >/dev/null; then
	# It wants the program to be there.
	sed "s,/usr/bin/berth,$root/bin/berth," deploy/berth.service >"$tmp/berth.service"
	warnings=$(systemd-analyze verify --man=no "$tmp/berth.service" 2>&1 | grep -F "$tmp/berth.service" || true)
	[ -z "$warnings" ] || fail "berth.service: $warnings"
	echo "ok: berth.service, by systemd-analyze verify"
else
	echo "SKIPPED: berth.service needs systemd-analyze to be verified"
fi

# As the user of the unit, with the capabilities that it has: docs/operating.md has it listen at 443 and 80.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && unshare --net true 2>/dev/null; then
	given() { sed -n "s/^$1=\(.\)/,\1/p" deploy/berth.service | tr '[:upper:] ' '[:lower:],' | sed 's/cap_/+/g'; }
	ambient=-all$(given AmbientCapabilities)
	chmod 711 "$tmp"
	install -m 755 bin/berth "$tmp/berth"
	install -d -o 65532 -g 65532 "$tmp/service"
	unshare --net setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --inh-caps "$ambient" --ambient-caps "$ambient" \
		--bounding-set "-all$(given CapabilityBoundingSet)" env -i TMPDIR="$tmp/service" "$tmp/berth" serve --ephemeral --json --listen 0.0.0.0:443 \
		>"$tmp/service.ready" 2>"$tmp/service.log" &
	pids+=($!)
	for _ in $(seq 1200); do
		if [ -s "$tmp/service.ready" ] || ! kill -0 $! 2>/dev/null; then break; fi
		sleep 0.1
	done
	[ -s "$tmp/service.ready" ] || fail "berth.service: the program cannot listen at 443: $(cat "$tmp/service.log")"
	echo "ok: berth.service, with its capabilities"
else
	echo "SKIPPED: the capabilities of berth.service need root, setpriv and unshare"
fi

# An image on a machine that is not Linux, where go and docker write what they are asked for.
mkdir "$tmp/macos"
cat >"$tmp/macos/uname" <<'END'
#!/bin/sh
echo Darwin
END
cat >"$tmp/macos/go" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo "a program for $GOOS" >"$2"
END
cat >"$tmp/macos/docker" <<'END'
#!/bin/sh
for context; do :; done
[ ! -f "$context/root/berth" ] || cp "$context/root/berth" "$BERTH_PACKED"
END
chmod +x "$tmp"/macos/*
BERTH_PACKED=$tmp/macos/packed PATH=$tmp/macos:$PATH deploy/image.sh berth check
grep -qsx 'a program for linux' "$tmp/macos/packed" || fail "image.sh packs a program that is none of Linux"
echo "ok: an image has a program of Linux, also on macOS"

deploy/check-embedding.sh
deploy/check-replicas.sh

# action VERSION: runs the step, and asks the server that it started.
action() {
	mkdir -p "$tmp/runner"
	: >"$tmp/output" >"$tmp/env"
	RUNNER_TEMP=$tmp/runner GITHUB_ACTION_PATH=$root GITHUB_OUTPUT=$tmp/output GITHUB_ENV=$tmp/env GITHUB_SERVER_URL=${releases:-} \
		BERTH_REPOSITORY=of/berth BERTH_VERSION=$1 BERTH_LISTEN=127.0.0.1:0 BERTH_ARGS=$'--test-controls\n--endpoint=echo=' \
		deploy/action/start.sh >"$tmp/log" 2>&1 || return 1
	pids+=("$(sed -n 's/^pid=//p' "$tmp/output")")
	(
		# shellcheck disable=SC1091
		. "$tmp/env"
		[ "$(curl -s -o /dev/null -w '%{http_code}' "$BERTH_URL/v2/pods" -H "Authorization: Bearer $BERTH_KEY")" = 200 ] &&
			[ "$(curl -s -o /dev/null -w '%{http_code}' "$BERTH_URL/_berth/clock" -H "Authorization: Bearer $BERTH_CONTROLS_KEY")" = 200 ] &&
			grep -q "^ready={.*\"echo\":\"" "$tmp/output"
	)
}
action "" || { cat "$tmp/log"; fail "the action, compiled"; }
echo "ok: the action, compiled"

os=$(go env GOOS) arch=$(go env GOARCH)
release=$tmp/releases/of/berth/releases/download/v1.2.3
mkdir -p "$release"
tar -czf "$release/berth_1.2.3_${os}_$arch.tar.gz" -C bin berth
(cd "$release" && sha256sum ./*.tar.gz | sed 's,\./,,' >SHA256SUMS)
python3 -u -m http.server --bind 127.0.0.1 --directory "$tmp/releases" 0 >"$tmp/http" 2>/dev/null &
pids+=($!)
for _ in $(seq 1200); do
	if [ -s "$tmp/http" ]; then break; fi
	sleep 0.1
done
[ -s "$tmp/http" ] || fail "the server of the release does not start"
releases=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$tmp/http")
action v1.2.3 || { cat "$tmp/log"; fail "the action, downloaded"; }
echo "ok: the action, downloaded"
sed -i.was "s/^[0-9a-f]*/$(printf '%064d' 0)/" "$release/SHA256SUMS"
if action v1.2.3; then fail "the action takes an archive that is not what SHA256SUMS says"; fi
grep -q '::error::.*SHA256SUMS' "$tmp/log" || fail "the action does not say what is wrong: $(cat "$tmp/log")"
if action v9.9.9; then fail "the action takes a release that there is not"; fi
echo "ok: the action refuses what it should"
