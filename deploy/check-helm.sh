#!/usr/bin/env bash
# Lints the chart, renders it with the values of each way to run it, and checks that the manifests are what Kubernetes takes, by its
# schemas, and that values which make no sense are refused. The program then runs with the arguments, the settings and the rights of a
# rendered pod. No cluster is asked. check-helm.sh VENV: a Python environment to install kubernetes-validate in.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 chart=deploy/helm/berth
tmp=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" || true; fi
	rm -rf "$tmp"
}
trap stop EXIT
fail() { echo "FAILED: $*"; exit 1; }
GOBIN=$tmp go install helm.sh/helm/v3/cmd/helm@v3.22.0
"$venv/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate==1.37.0

"$tmp/helm" lint --quiet --strict "$chart"
render() { "$tmp/helm" template of "$chart" --namespace berth --kube-version 1.37.0 "$@"; }
several=(--set replicas=3 --set store.existingSecret=store)
everything=("${several[@]}" --set secretKey.existingSecret=key --set metrics.enabled=true --set metrics.serviceMonitor.enabled=true
	--set ingress.enabled=true --set ingress.host=pods.example.com --set ingress.tlsSecret=tls --set ingress.className=nginx
	--set-json 'settings={"contract":"public","endpoint":["words="]}' --set-file fleet="$chart/Chart.yaml" --set-json 'tolerations=[{"key":"a","operator":"Exists"}]'
	--set priorityClassName=high --set-json 'imagePullSecrets=[{"name":"pull"}]' --set persistence.storageClass=fast)
render >"$tmp/one.yaml"
render --set persistence.existingClaim=mine >"$tmp/claimed.yaml"
render "${several[@]}" >"$tmp/several.yaml"
render "${everything[@]}" >"$tmp/everything.yaml"
render --set kubernetes.enabled=true --set kubernetes.namespace=workloads >"$tmp/kubernetes.yaml"
render --set kubernetes.enabled=true --set kubernetes.gpuClass=gpu.nvidia.com >"$tmp/devices.yaml"
# A ServiceMonitor is not of Kubernetes itself; the rest of a file is.
for file in "$tmp"/*.yaml; do
	"$venv/bin/python" - "$file" <<'END'
import sys, yaml
documents = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d and d["kind"] != "ServiceMonitor"]
yaml.safe_dump_all(documents, open(sys.argv[1], "w"))
END
	"$venv/bin/kubernetes-validate" --strict --quiet -k 1.37 "$file" || fail "$(basename "$file") is not what Kubernetes takes"
done
sed 's/replicas: 3/replicas: many/' "$tmp/several.yaml" >"$tmp/wrong.yml"
if "$venv/bin/kubernetes-validate" --strict --quiet -k 1.37 "$tmp/wrong.yml" >/dev/null 2>&1; then fail "a number of replicas that is none is taken"; fi
# refused WHY ARGUMENTS...
refused() {
	if render "${@:2}" >/dev/null 2>"$tmp/why"; then fail "the chart takes ${*:2}"; fi
	grep -q "$1" "$tmp/why" || fail "the chart does not say why it refuses ${*:2}: $(cat "$tmp/why")"
}
refused 'store.existingSecret' --set replicas=2
refused 'a value of its own' --set settings.listen=0.0.0.0:1
refused 'not allowed' --set replica=2
refused 'metrics.enabled' --set metrics.serviceMonitor.enabled=true
refused 'kubernetes.enabled sets it' --set kubernetes.enabled=true --set settings.runtime=docker
refused 'kubernetes.enabled sets it' --set kubernetes.enabled=true --set settings.kube-gpu-class=gpu.nvidia.com
refused 'gpuClass' --set kubernetes.enabled=true --set kubernetes.gpuClass='GPU of NVIDIA'
refused 'nodes of the cluster' --set kubernetes.enabled=true --set-file fleet="$chart/Chart.yaml"
refused 'ingress.host' --set ingress.enabled=true
grep -q 'maxUnavailable: 0' "$tmp/several.yaml" || fail "an update takes a pod away before there is another one"
grep -q -- '- --kube-gpu-class=gpu.nvidia.com' "$tmp/devices.yaml" || fail "the class of devices is not passed on"
grep -q 'resource.k8s.io' "$tmp/devices.yaml" || fail "with a class of devices there is no right to claim them"
if grep -q 'gpu-class\|resource.k8s.io' "$tmp/kubernetes.yaml"; then fail "devices are claimed though no class is set"; fi
grep -q 'type: Recreate' "$tmp/one.yaml" || fail "two pods open one file"
echo "ok: the chart, by helm lint and the schemas of Kubernetes"

# As in the pod: a volume that is open to its group, a key that the group may read, a user who is not root.
mkdir -p "$tmp/data" "$tmp/etc/berth" "$tmp/etc/berth-key"
"$venv/bin/python" - "$tmp" <<'END'
import base64, os, sys, yaml
tmp = sys.argv[1]
documents = {d["kind"]: d for d in yaml.safe_load_all(open(f"{tmp}/one.yaml"))}
for name, content in documents["ConfigMap"]["data"].items():
    open(f"{tmp}/etc/berth/{name}", "w").write(content)
open(f"{tmp}/etc/berth-key/secret.key", "wb").write(base64.b64decode(documents["Secret"]["data"]["secret.key"]))
os.chmod(f"{tmp}/etc/berth-key/secret.key", 0o440)
os.chmod(f"{tmp}/data", 0o2775)
args = documents["Deployment"]["spec"]["template"]["spec"]["containers"][0]["args"]
open(f"{tmp}/args", "w").writelines(a.replace("=/", f"={tmp}/").replace("0.0.0.0:8765", "127.0.0.1:0") + "\n" for a in args)
END
as=()
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$tmp"
	chown 0:65532 "$tmp/data" "$tmp/etc/berth-key/secret.key"
	cp bin/berth "$tmp/berth"
	as=(setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all)
else
	ln -s "$PWD/bin/berth" "$tmp/berth"
fi
mapfile -t args <"$tmp/args"
"${as[@]}" "$tmp/berth" "${args[@]}" --json >"$tmp/ready" 2>"$tmp/log" &
server=$!
for _ in $(seq 300); do
	if [ -s "$tmp/ready" ] || ! kill -0 $server 2>/dev/null; then break; fi
	sleep 0.1
done
[ -s "$tmp/ready" ] || fail "the program does not serve as it does in a pod: $(cat "$tmp/log")"
url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$tmp/ready")
curl -sf -o /dev/null "$url/readyz" || fail "it is not ready"
curl -sf -o /dev/null -H 'Host: of-berth.berth.svc.cluster.local' "$url/readyz" || fail "it does not answer under the name of its Service"
echo "ok: the program serves with the arguments, the settings and the rights of a pod"
