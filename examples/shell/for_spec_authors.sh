#!/usr/bin/env bash
# For authors of the documents: what the document of createPod says, held against a server. Its example is taken, a status that it
# promises can be had and is of the type that it says, and a limit lasts as long as the headers say.
. "$(dirname "$0")/berth.sh"
start

send() { curl -sS -o "$directory/body" -w '%{http_code} %{content_type}' -H "Authorization: Bearer the-key-of-the-reader" -H "Content-Type: application/json" "$@"; }
controls clock freeze >"$directory/clock"

curl -sSf "$url/v2/openapi.json" | python3 -c '
import json, sys
content = json.load(sys.stdin)["paths"]["/v2/pods"]["post"]["requestBody"]["content"]["application/json"]
example = content["example"] if "example" in content else next(iter(content["examples"].values()))["value"]
print(json.dumps(example))' >"$directory/example"
expect "the example of the document" "201 application/json" "$(send -d "@$directory/example" "$url/v2/pods")"
expect "a member that no document has" "422 application/problem+json" "$(send -d '{"name": "a", "image": "a", "colour": "red"}' "$url/v2/pods")"

controls faults add --operation createPod --status 503 --retry-after 1 --times 1 >"$directory/fault"
expect "a service that is away" "503 application/problem+json" "$(send -d "@$directory/example" "$url/v2/pods")"

for _ in 1 2; do send "$url/v2/pods" >"$directory/status"; done
expect "the limit of the seed" "429 application/problem+json" "$(send "$url/v2/pods")"
controls clock advance 1m >"$directory/clock"
expect "a minute later" "200 application/json" "$(send "$url/v2/pods")"

controls journal verify - <<'EXPECTED'
[{"operation": "createPod", "status": "201", "times": {"exactly": 1}},
 {"operation": "createPod", "status": "422", "body": [{"pointer": "/colour", "equals": "red"}], "times": {"exactly": 1}},
 {"operation": "createPod", "status": "503", "times": {"exactly": 1}},
 {"operation": "listPods", "status": "429", "times": {"exactly": 1}}]
EXPECTED
echo "ok: the document of createPod"
