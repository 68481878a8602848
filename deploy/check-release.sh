#!/usr/bin/env bash
# Makes the release twice, here and in a clone elsewhere with a cache of its own, and compares the bytes; then installs its files in clean Debian
# systems of three kinds, with one command each, and runs a job through a handler with one more. Needs root, git and apt. QUICK=1: this machine's
# system alone, and Go's cache is shared. TARGETS=linux/amd64,… has it made for those alone. What it makes, but dist/, is removed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tmp=$(mktemp -d)
pids=()
stop() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	rm -rf --one-file-system "$tmp"
}
trap stop EXIT
fail() { echo "FAILED: $*"; exit 1; }

here=$(go env GOOS)/$(go env GOARCH)
if [ -n "${QUICK:-}" ]; then TARGETS=$here; fi
export TARGETS=${TARGETS:-}

# bootstrap: a system with nothing but what Debian cannot be without.
bootstrap() { mmdebstrap --quiet --variant=apt --skip=cleanup/reproducible bookworm "$tmp/nothing" >"$tmp/bootstrap.log" 2>&1; }

# inside KIND COMMAND…: runs it in a system of that kind, with what the release made in /dist.
inside() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -c '
		mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount --bind "$BERTH_DIST" "$0/dist" && cd "$0" && exec chroot "$0" "$@"
	' "$tmp/$1" env PATH=/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "${@:2}"
}
export BERTH_DIST=$root/dist

# prepare KIND COMMAND: makes a system of that kind from the one with nothing.
prepare() {
	cp -a "$tmp/nothing" "$tmp/$1"
	inside "$1" sh -ec "$2"
	cp -L /etc/ssl/certs/ca-certificates.crt "$tmp/$1/etc/ssl/certs/" # Debian's package may have written its own
}

# used KIND INSTALL RUN: installs in a system with one command and runs a job with one more, and says how long each took.
used() {
	local begun installed ended
	begun=$(date +%s%N)
	inside "$1" sh -ec "$2" >"$tmp/$1.install" 2>&1 || { tail -n 30 "$tmp/$1.install"; fail "$1: $2"; }
	installed=$(date +%s%N)
	inside "$1" sh -ec "cd /root && $3" >"$tmp/$1.run" 2>&1 || { tail -n 30 "$tmp/$1.run"; fail "$1: $3"; }
	ended=$(date +%s%N)
	grep -q 'COMPLETED' "$tmp/$1.run" && grep -q '"upper":"HELLO"\|"text":"hello"' "$tmp/$1.run" || { cat "$tmp/$1.run"; fail "$1: $3 ran no job"; }
	awk -v kind="$1" -v a="$begun" -v b="$installed" -v c="$ended" -v i="$2" -v r="$3" \
		'BEGIN { printf "ok: Debian with %s: %.1f s for: %s\n    %.1f s for: %s\n", kind, (b - a) / 1e9, i, (c - b) / 1e9, r }'
}

has_debian=
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && { command -v mmdebstrap >/dev/null && command -v rpm >/dev/null ||
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap rpm >/dev/null; }; }; then
	has_debian=1
	bootstrap &
	pids+=($!)
fi

make --no-print-directory release
(cd dist && sha256sum --check --quiet SHA256SUMS)
echo "ok: the checksums (after $SECONDS s)"

# manual: every page of the archives, without a warning of what formats them.
manual() {
	local page pages=0
	mkdir -p "$tmp/archive"
	tar -xzf "$(find dist -name 'berth_*_linux_*.tar.gz' | sort | head -n 1)" -C "$tmp/archive"
	for page in "$tmp"/archive/man/*.1; do
		groff -man -ww -Tutf8 "$page" >/dev/null 2>"$tmp/warnings"
		[ ! -s "$tmp/warnings" ] || { head "$tmp/warnings"; fail "$(basename "$page") is not as man wants it"; }
		pages=$((pages + 1))
	done
	[ "$pages" -gt 30 ] || fail "the archive has $pages pages of the manual"
	echo "ok: $pages pages of the manual"
}
(cd deploy/release && go test -count=1 . >/dev/null) || fail "deploy/release has a test that fails"
if command -v groff >/dev/null; then manual; else echo "SKIPPED: the manual needs groff"; fi

# again makes the release once more and compares, beside what follows.
again() {
	mkdir -p "$tmp/else/where"
	git clone --quiet "$root" "$tmp/else/where/berth"
	(
		if [ -z "${QUICK:-}" ]; then GOCACHE=$tmp/cache && export GOCACHE; fi
		cd "$tmp/else/where/berth"
		umask 077
		TZ=Pacific/Auckland LC_ALL=C make --no-print-directory release
	) >"$tmp/second.log" 2>&1 || { tail "$tmp/second.log"; fail "the second release"; }
	diff dist/SHA256SUMS "$tmp/else/where/berth/dist/SHA256SUMS" || fail "the release made twice is not the same"
	echo "ok: made twice, the same $(wc -l <dist/SHA256SUMS) files"
}
git diff --quiet HEAD -- . || echo "What is not committed is not in the second release: it may differ for that."
again >"$tmp/again.out" 2>&1 &
second=$!

if [ -z "$has_debian" ] || ! command -v npm >/dev/null; then
	echo "SKIPPED: the clean systems need Linux, root, apt with mmdebstrap, and npm"
	wait "$second" || { cat "$tmp/again.out"; exit 1; }
	cat "$tmp/again.out"
	exit 0
fi
if ! wait "${pids[0]}"; then
	echo "SKIPPED: no clean Debian can be made here: $(tail -n 1 "$tmp/bootstrap.log")"
	wait "$second" || { cat "$tmp/again.out"; exit 1; }
	cat "$tmp/again.out"
	exit 0
fi

echo "ok: a clean Debian (after $SECONDS s)"
# A system reaches the registries as this one does.
mkdir -p "$tmp/nothing/dist" "$tmp/nothing/etc/ssl/certs"
cp -L /etc/resolv.conf /etc/hosts "$tmp/nothing/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$tmp/nothing/etc/ssl/certs/"
arch=$(dpkg --print-architecture)

nothing() {
	cp -a "$tmp/nothing" "$tmp/nothing at all"
	used "nothing at all" "apt-get install -y /dist/berth_*_$arch.deb" "berth dev --input '{\"text\":\"hello\"}' -- berth worker --handler echo"
	inside "nothing at all" sh -ec '
		BERTH_CONFIG=/etc/berth/config.yaml berth config show >/dev/null
		test -s /usr/share/bash-completion/completions/berth && test -s /usr/share/doc/berth/berth.ps1 && test -s /usr/share/man/man1/berth-pods.1
		echo "# mine" >>/etc/berth/config.yaml
		apt-get remove -y berth >/dev/null 2>&1
		grep -q mine /etc/berth/config.yaml && ! test -e /usr/bin/berth && ! test -e /usr/lib/systemd/system/berth.service' || fail "the package does not go as it should"
	echo "ok: the package of Debian goes, and what was configured stays"

	# The tool of Fedora and RHEL, in a system that has a shell for its scripts.
	cp -a "$tmp/nothing" "$tmp/rpm"
	rpm --root "$tmp/rpm" --install --nodeps dist/berth-*."$(uname -m)".rpm || fail "rpm does not install the package"
	inside rpm sh -ec 'berth version && test -s /usr/lib/systemd/system/berth.service && test -s /usr/share/zsh/site-functions/_berth && test -s /usr/share/man/man1/berth.1' >/dev/null || fail "the package of RPM has not what it should"
	rpm --root "$tmp/rpm" --erase berth || fail "rpm does not remove the package"
	[ ! -e "$tmp/rpm/usr/bin/berth" ] || fail "the package of RPM stays"
	echo "ok: the package of RPM, installed and removed by rpm"
}

# installed: what go install fetches and compiles, from a proxy of modules on this machine.
installed() {
	local clone=$tmp/else/where/berth version
	version=v$(sed -n 's/^  version "\(.*\)"$/\1/p' dist/berth.rb)
	(cd "$clone/deploy/release" && go run . -root ../.. -module "$tmp/proxy" -version "$version" -time "$(git log -1 --format=%ct)")
	(cd "$tmp" && CGO_ENABLED=0 GOFLAGS='-trimpath -modcacherw' GOBIN=$tmp/gobin GOMODCACHE=$tmp/modules GONOSUMDB=github.com/berthdev/berth \
		GOPROXY="file://$tmp/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" go install "github.com/berthdev/berth/cmd/berth@$version")
	[ "$("$tmp/gobin/berth" version)" = "berth $version" ] || fail "go install made $("$tmp/gobin/berth" version), not $version"
	echo "ok: go install"
}

python() {
	prepare Python 'apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1 && python3 -m venv /venv'
	cat >"$tmp/Python/root/handler.py" <<-'END'
		import runpod


		def handler(job):
		    return {"upper": job["input"]["text"].upper()}


		runpod.serverless.start({"handler": handler})
	END
	used Python "pip install --quiet runpod /dist/python/berth_server-*$(uname -m)*.whl" "berth dev --input '{\"text\":\"hello\"}' handler.py"
	inside Python sh -ec 'berth-server version && python -m berth version && python -c "import berth; print(berth.find_program())"' >"$tmp/module" || fail "python -m berth"
	grep -q -x /venv/bin/berth "$tmp/module" || fail "berth.find_program() is $(cat "$tmp/module")"
	if [ -n "${QUICK:-}" ]; then return; fi
	inside Python sh -ec 'pip install --quiet uv'
	used Python "true" "uvx --quiet --with runpod --from /dist/python/berth_server-*$(uname -m)*.whl berth dev --input '{\"text\":\"hello\"}' handler.py"
}

# npm has no command for a package whose dependencies are files: a registry on this machine serves them as a registry does.
registry() {
	mkdir -p "$tmp/registry/@berthdev" "$tmp/registry/files"
	cp dist/npm/*.tgz "$tmp/registry/files"
	(cd "$tmp/registry" && exec python3 -u -m http.server --bind 127.0.0.1 0) >"$tmp/registry.log" 2>&1 &
	pids+=($!)
	for _ in $(seq 1200); do
		if [ -s "$tmp/registry.log" ]; then break; fi
		sleep 0.1
	done
	[ -s "$tmp/registry.log" ] || fail "the registry does not start"
	port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$tmp/registry.log")
	for package in dist/npm/*.tgz; do
		tar -xzOf "$package" package/package.json | python3 -c '
import json, sys
about = json.load(sys.stdin)
about["dist"] = {"tarball": sys.argv[2]}
document = {"name": about["name"], "dist-tags": {"latest": about["version"]}, "versions": {about["version"]: about}}
json.dump(document, open(sys.argv[1] + "/" + about["name"], "w"))' "$tmp/registry" "http://127.0.0.1:$port/files/$(basename "$package")"
	done
}

node() {
	# npm of the registry: that of Debian comes with 400 packages.
	npm_version=10.9.2
	(cd "$tmp" && npm pack --silent "npm@$npm_version" >/dev/null)
	prepare Node 'apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs >/dev/null 2>&1'
	mkdir -p "$tmp/Node/usr/lib/node_modules/npm"
	tar -xzf "$tmp/npm-$npm_version.tgz" -C "$tmp/Node/usr/lib/node_modules/npm" --strip-components=1
	ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tmp/Node/usr/bin/npm"
	ln -s ../lib/node_modules/npm/bin/npx-cli.js "$tmp/Node/usr/bin/npx"
	cat >"$tmp/Node/root/worker.mjs" <<-'END'
		const { RUNPOD_WEBHOOK_GET_JOB: take, RUNPOD_WEBHOOK_POST_OUTPUT: post, RUNPOD_AI_API_KEY: key, RUNPOD_POD_ID: worker } = process.env;
		const headers = { Authorization: key, "Content-Type": "application/json" };
		for (;;) {
		  const answer = await fetch(take.replace("$ID", worker), { headers });
		  if (answer.status !== 200) continue;
		  const job = await answer.json();
		  const output = { upper: job.input.text.toUpperCase() };
		  await fetch(post.replace("$RUNPOD_POD_ID", worker).replace("$ID", job.id), { method: "POST", headers, body: JSON.stringify({ output }) });
		}
	END
	registry
	used Node "cd /root && npm install --silent --no-audit --no-fund --registry http://127.0.0.1:$port berth-server" "npx berth-server dev --input '{\"text\":\"hello\"}' -- node worker.mjs"
	# A signal goes on to the program, and its exit code comes back.
	inside Node sh -c 'cd /root && npx berth-server pods list --server http://127.0.0.1:1 --key none 2>/dev/null; [ $? = 4 ]' || fail "npx berth-server does not end as the program does"
}

failed=
for kind in nothing python node; do
	"$kind" >"$tmp/$kind.out" 2>&1 &
	kinds+=($!)
done
for i in 0 1 2; do wait "${kinds[$i]}" || failed=1; done
wait "$second" || failed=1
cat "$tmp/again.out" "$tmp/nothing.out" "$tmp/python.out" "$tmp/node.out"
[ -z "$failed" ] || exit 1
if [ -z "${QUICK:-}" ]; then
	installed
	for os in windows darwin; do GOOS=$os CGO_ENABLED=0 go vet . ./berthtest ./cmd/berth || fail "go vet for $os"; done
	echo "ok: go vet for Windows and macOS"
fi
echo "all of it in $SECONDS s"
