#!/usr/bin/env bash
# Packs bin/berth into an image: image.sh TAG VERSION. Where bin/berth is no program of Linux, as on macOS, the same is compiled for it. The
# certificates are those of this machine. It is the first stage of Dockerfile and what the last one adds to it, without the one between: engines
# without BuildKit go through every stage.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=$1 version=$2
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir -p "$context/root/etc/ssl/certs" "$context/data"
if [ "$(uname -s)" = Linux ]; then
	cp bin/berth "$context/root/berth"
else
	CGO_ENABLED=0 GOOS=linux go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" -o "$context/root/berth" ./cmd/berth
fi
for certificates in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
	if [ -f "$certificates" ]; then break; fi
done
[ -f "$certificates" ] || { echo "this machine has no certificates for HTTPS: install ca-certificates"; exit 1; }
cp "$certificates" "$context/root/etc/ssl/certs/ca-certificates.crt"
docker build --quiet --target base --build-arg VERSION="$version" -f deploy/Dockerfile -t "$tag-base" "$context" >/dev/null
docker build --quiet -f - -t "$tag" "$context" <<-END
	FROM $tag-base
	COPY root /
	COPY --chown=65532:65532 data /data
	VOLUME /data
END
docker image rm "$tag-base" >/dev/null
