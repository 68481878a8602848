#!/usr/bin/env bash
# The step of action.yml: gets the program, starts it and waits until it serves. It ends with the job.
set -euo pipefail
dir=$(mktemp -d "$RUNNER_TEMP/berth.XXXXXX")
fail() { printf '::error::%s\n' "$*"; exit 1; }

if [ -n "$BERTH_VERSION" ]; then
	os=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no release of berth for $(uname -m)" ;;
	esac
	archive=berth_${BERTH_VERSION#v}_${os}_$arch.tar.gz
	from=$GITHUB_SERVER_URL/$BERTH_REPOSITORY/releases/download/$BERTH_VERSION
	for file in "$archive" SHA256SUMS; do
		curl -fsSL --retry 3 -o "$dir/$file" "$from/$file" || fail "the release $BERTH_VERSION has no $file"
	done
	sum=$(grep -F "  $archive" "$dir/SHA256SUMS") || fail "SHA256SUMS of $BERTH_VERSION does not name $archive"
	if command -v sha256sum >/dev/null; then check=(sha256sum -c -); else check=(shasum -a 256 -c -); fi
	(cd "$dir" && printf '%s\n' "$sum" | "${check[@]}" >/dev/null) || fail "$archive is not what SHA256SUMS says"
	tar -xzf "$dir/$archive" -C "$dir" berth
else
	command -v go >/dev/null || fail "compiling berth needs Go: name a version to download, or set Go up"
	(cd "$GITHUB_ACTION_PATH" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" -o "$dir/berth" ./cmd/berth)
fi

args=(--json --data "$dir/data" --listen "$BERTH_LISTEN")
while IFS= read -r line; do
	if [ -n "$line" ]; then args+=("$line"); fi
done <<<"$BERTH_ARGS"
# Away from this shell, which ends with the step.
nohup "$dir/berth" serve "${args[@]}" >"$dir/ready" 2>"$dir/log" </dev/null &
server=$!
for _ in $(seq 600); do
	if [ -s "$dir/ready" ]; then break; fi
	kill -0 "$server" 2>/dev/null || break
	sleep 0.1
done
[ -s "$dir/ready" ] || { cat "$dir/log"; fail "berth does not serve"; }

ready=$(head -n 1 "$dir/ready")
field() { printf '%s' "$ready" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
key=$(field key) controls=$(field controlsKey)
printf '::add-mask::%s\n' "$key"
if [ -n "$controls" ]; then printf '::add-mask::%s\n' "$controls"; fi
{
	echo "url=$(field url)"
	echo "queue-url=$(field queueUrl)"
	echo "key=$key"
	echo "controls-key=$controls"
	echo "ready=$ready"
	echo "pid=$server"
	echo "log=$dir/log"
} >>"$GITHUB_OUTPUT"
{
	echo "BERTH_URL=$(field url)"
	echo "BERTH_KEY=$key"
	if [ -n "$controls" ]; then echo "BERTH_CONTROLS_KEY=$controls"; fi
} >>"$GITHUB_ENV"
echo "berth serves at $(field url)"
