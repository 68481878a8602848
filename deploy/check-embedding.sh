#!/usr/bin/env bash
# What a program that embeds berth, or whose tests start it, requires of other modules is what it uses: go mod tidy names no module for it of
# which nothing is compiled on any system. What is of berth's own tests and generators alone stays out of it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
export GOFLAGS=-mod=mod GOWORK=off

cat >go.mod <<END
module example.com/embedder

$(grep '^go ' "$root/go.mod")

require github.com/berthdev/berth v0.0.0

replace github.com/berthdev/berth => $root
END
cat >embedder_test.go <<'END'
package embedder

import (
	"testing"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestEmbedder(t *testing.T) { _ = berthtest.Start(t, berth.Options{}) }
END
go mod tidy
for os in linux darwin windows freebsd; do
	GOOS=$os go list -test -deps -f '{{with .Module}}{{.Path}}{{end}}' .
done | sort -u >used
awk '/\/\/ indirect$/ { print $1 }' go.mod | sort >required
[ "$(wc -l <required)" -gt 10 ] || { echo "FAILED: the modules are not seen: $(cat go.mod)"; exit 1; }
unused=$(comm -13 used required)
[ -z "$unused" ] || { echo "FAILED: who embeds berth is made to require what is not used:" $unused; exit 1; }
echo "ok: who embeds berth requires $(wc -l <required) modules, and uses each of them"
