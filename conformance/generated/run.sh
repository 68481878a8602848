#!/usr/bin/env bash
# Generates clients from the documents that a server serves, with a tool for each language, compiles them, and has each create a
# pod and get it. A tool that cannot be had here is SKIPPED. Everything that is installed goes to a directory that is removed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
generator=org.openapitools:openapi-generator-cli:7.16.0
tmp=$(mktemp -d)
cp -r "$here"/{go,python,javascript,java} "$tmp"
cd "$tmp"

"$root/bin/berth" serve --json --listen 127.0.0.1:0 --data data --endpoint served= >ready 2>log &
server=$!
trap 'kill $server 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT
for _ in $(seq 1200); do
	[ ! -s ready ] && kill -0 $server 2>/dev/null || break
	sleep 0.1
done
[ -s ready ] || { cat log; exit 1; }
field() { grep -o "\"$1\":\"[^\"]*\"" ready | cut -d'"' -f4; }
url=$(field url) key=$(field key) endpoint=$(field served)
for document in v2/openapi openapi/queue openapi/worker; do curl -sf "$url/$document.json" >"$(basename "${document/v2\/openapi/rest}").json"; done

skipped() { printf 'SKIPPED: %s\n' "$*"; }
has() { command -v "$1" >/dev/null; }

with_go() {
	(cd "$root" && for name in rest queue worker; do
		mkdir -p "$tmp/go/$name"
		go tool -modfile=gen/tools.mod oapi-codegen -package "$name" -generate types,client "$tmp/$name.json" >"$tmp/go/$name/$name.go"
	done)
	cd go
	GOFLAGS=-mod=mod go vet ./...
	GOFLAGS=-mod=mod go run . "$url" "$key"
	echo "ok: oapi-codegen"
}

with_python() {
	python3 -m venv venv
	venv/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt
	for name in rest queue worker; do
		venv/bin/openapi-python-client generate --path $name.json --meta none --output-path python/generated_$name >$name.out 2>&1 || { cat $name.out; exit 1; }
	done
	venv/bin/python -m compileall -q python
	venv/bin/python python/main.py "$url" "$key"
	echo "ok: openapi-python-client"
}

with_javascript() {
	cd javascript
	npm ci --no-audit --no-fund --loglevel=error
	# A member with a default may be left out: without the option the types require it.
	for name in rest queue worker; do npx --no-install openapi-typescript ../$name.json --default-non-nullable false -o $name.ts >$name.out 2>&1 || { cat $name.out; exit 1; }; done
	npx --no-install tsc --strict --noUncheckedIndexedAccess --module nodenext --target es2022 --outDir out ./*.ts
	node out/main.js "$url" "$key" "$endpoint"
	echo "ok: openapi-typescript"
}

# REST alone: of a choice between an array and an object, as the stream of a job is, openapi-generator makes Java that does not compile.
with_java() {
	mvn -q -B -ntp dependency:copy -Dartifact=$generator -DoutputDirectory="$tmp"
	java -jar openapi-generator-cli-*.jar generate -g java --library native -i rest.json -o java/rest --package-name generated \
		--invoker-package generated.client --api-package generated.api --model-package generated.model \
		--global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false >rest.out 2>&1 || { tail -50 rest.out; exit 1; }
	mvn -q -B -ntp -f java/rest compile dependency:copy-dependencies -DincludeScope=compile
	java -cp "java/rest/target/classes:java/rest/target/dependency/*" java/Main.java "$url" "$key"
	echo "ok: openapi-generator"
}

(with_go)
if has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null; then (with_python); else skipped "openapi-python-client needs Python 3 with venv"; fi
if has npm; then (with_javascript); else skipped "openapi-typescript needs Node and npm"; fi
if has mvn && has javac; then (with_java); else skipped "openapi-generator needs a JDK and Maven"; fi
