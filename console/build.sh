#!/usr/bin/env bash
# Builds the console from the packages that package-lock.json names: src/spec from the documents, and built/, which is embedded. With
# --check it changes nothing and fails if they are others, or if a unit test does.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
if [ "${1:-}" = --check ]; then
	kept=$(mktemp -d)
	trap 'rm -rf src/spec && mv "$kept/spec" src/spec; rm -rf "$kept"' EXIT
	cp -R src/spec "$kept/spec"
	npm run --silent types >/dev/null
	diff -rq "$kept/spec" src/spec || { echo "console/src/spec is not what spec/ gives: run make console and commit"; exit 1; }
	npm run --silent check
	npm run --silent test
	npx vite build --logLevel warn
	node pack.mjs --check
	exit
fi
npm run --silent types
npm run --silent check
npx vite build --logLevel warn
node pack.mjs
