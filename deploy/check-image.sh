#!/usr/bin/env bash
# Builds the image, runs it as compose.yaml does, and checks that it becomes healthy, serves as a user who is not root, and keeps
# its data. Its container, volume and images are removed.
set -euo pipefail
cd "$(dirname "$0")/.."
name=berth-check-$$
tmp=$(mktemp -d)
remove() {
	docker rm -f "$name" >/dev/null 2>&1 || true
	docker volume rm "$name" >/dev/null 2>&1 || true
	docker image rm "$name" >/dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap remove EXIT
fail() {
	echo "FAILED: $*"
	docker logs "$name" 2>&1 | sed 's/brt_[a-z0-9_]*/brt_.../g' | tail -n 30
	exit 1
}
# until_is WANT COMMAND...: waits a minute for the command to print what is wanted.
until_is() {
	for _ in $(seq 120); do
		if [ "$("${@:2}" 2>/dev/null)" = "$1" ]; then return; fi
		sleep 0.5
	done
	fail "it did not become $1: $*"
}
health() { docker inspect -f '{{.State.Health.Status}}' "$name"; }
base() { echo "http://$(docker port "$name" 8765/tcp | head -n 1)"; }

golang=$(sed -n 's/^FROM \(golang[^ ]*\) .*/\1/p' deploy/Dockerfile)
if docker image inspect "$golang" >/dev/null 2>&1 || timeout 300 docker pull --quiet "$golang" >"$tmp/pull" 2>&1; then
	docker build --quiet --build-arg VERSION=check -f deploy/Dockerfile -t "$name" .
else
	echo "SKIPPED: compiling in the image: $golang cannot be pulled ($(tail -n 1 "$tmp/pull" | cut -c 1-100)); bin/berth is packed instead"
	deploy/image.sh "$name" check
fi

docker volume create "$name" >/dev/null
docker run -d --name "$name" --health-interval 1s -p 127.0.0.1::8765 -v "$name:/data" --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges "$name" >/dev/null
until_is healthy health
user=$(docker top "$name" -eo pid,uid | awk '{ user = $2 } END { print user }')
[ "$user" = 65532 ] || fail "it is run by user $user"
key=$(docker logs "$name" 2>&1 | sed -n 's/.*export BERTH_KEY=\(brt_[a-z0-9_]*\).*/\1/p')
[ -n "$key" ] || fail "it printed no key"
status=$(curl -s -o "$tmp/pod" -w '%{http_code}' "$(base)/v2/pods" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
	-d '{"name":"in a container","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2}}')
[ "$status" = 201 ] || fail "creating a pod answered $status: $(cat "$tmp/pod")"
id=$(sed -n 's/.*"id":"\([a-z0-9]\{14\}\)".*/\1/p' "$tmp/pod")
pod() { curl -s -o /dev/null -w '%{http_code}' "$(base)/v2/pods/$id" -H "Authorization: Bearer $key"; }
docker stop --time 100 "$name" >/dev/null
code=$(docker inspect -f '{{.State.ExitCode}}' "$name")
[ "$code" = 0 ] || fail "it ended with $code"
docker start "$name" >/dev/null # the engine publishes another port
until_is healthy health
until_is 200 pod
# Another container with the volume is the next version.
docker rm -f "$name" >/dev/null
docker run -d --name "$name" -p 127.0.0.1::8765 -v "$name:/data" "$name" >/dev/null
until_is 200 pod
# A check that cannot fail checks nothing.
if docker exec "$name" /berth healthcheck http://127.0.0.1:1 2>/dev/null; then fail "a health check of nothing succeeded"; fi
docker exec "$name" /berth healthcheck --timeout 60s || fail "its health check fails"
size=$(docker image inspect -f '{{.Size}}' "$name")
echo "ok: the image is healthy, is not run by root, and keeps its data; $((size / 1000000)) MB"
