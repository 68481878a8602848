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
secured=(--set tls.existingSecret=cert --set service.port=443 --set publicURL=https://pods.example.com)
render "${secured[@]}" --set backup.to=s3://backups/of/berth --set backup.existingSecret=s3 --set backup.region=eu-north-1 >"$tmp/secured.yaml"
render "${secured[@]}" "${everything[@]}" >"$tmp/secured-several.yaml"
render "${secured[@]}" --set kubernetes.enabled=true >"$tmp/secured-kubernetes.yaml"
"$venv/bin/python" - "$tmp/everything.yaml" <<'END' || fail "the ServiceMonitor or the Ingress is not what the alerts and docs/fronts.md expect"
import sys, yaml

documents = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d]
monitor, = (d["spec"] for d in documents if d["kind"] == "ServiceMonitor")
wanted = monitor["selector"]["matchLabels"].items()
labels, = (d["metadata"]["labels"] for d in documents if d["kind"] == "Service" and wanted <= d["metadata"]["labels"].items())
assert labels.get(monitor.get("jobLabel")) == "berth", "the job is not called berth"
ingress, = (d["metadata"]["annotations"] for d in documents if d["kind"] == "Ingress")
assert ingress["nginx.ingress.kubernetes.io/proxy-body-size"] == "0", "bodies have a limit"
assert "nginx.ingress.kubernetes.io/proxy-next-upstream" not in ingress, "a replica that leaves fails requests"
END
render --set ingress.enabled=true --set ingress.host=pods.example.com | grep -q 'proxy-next-upstream: "off"' || fail "what was sent may be sent again"
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
refused 'a value of its own' --set settings.tls-cert=/etc/berth-tls/tls.crt
refused 'a value of its own' --set settings.backup-to=/mnt
refused 'tls.existingSecret' --set 'settings.acme-hosts={pods.example.com}'
refused 'tls.existingSecret sets it' "${secured[@]}" --set settings.queue-listen=0.0.0.0:1
refused 'backup.existingSecret' --set backup.to=s3://backups/berth
refused 'for SQLite' "${several[@]}" --set backup.to=s3://backups/berth --set backup.existingSecret=s3
refused 'no Service' --set settings.ssh-listen=0.0.0.0:2222
refused 'backup' --set backup.to=/mnt --set backup.existingSecret=s3
"$venv/bin/python" - "$tmp" <<'END' || fail "what a certificate changes does not fit together"
import sys, yaml

def read(name):
    return [d for d in yaml.safe_load_all(open(f"{sys.argv[1]}/{name}.yaml")) if d]

def of(documents, kind):
    return [d for d in documents if d["kind"] == kind]

for name, scheme in (("one", "http"), ("everything", "http"), ("secured", "https"), ("secured-several", "https"), ("secured-kubernetes", "https")):
    documents = read(name)
    container, = of(documents, "Deployment")[0]["spec"]["template"]["spec"]["containers"]
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    assert ports[scheme] == 8765 and ("queue" in ports) == (scheme == "https"), (name, ports)
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        how = container[probe]
        asked = how.get("httpGet") or how["tcpSocket"]
        assert asked["port"] == scheme and asked.get("scheme", scheme.upper()) == scheme.upper(), (name, probe, how)
    services = {d["metadata"]["name"]: d["spec"]["ports"][0] for d in of(documents, "Service")}
    assert services["of-berth"]["name"] == services["of-berth"]["targetPort"] == scheme, (name, services)
    assert all(p["targetPort"] in ports for p in services.values()), (name, services)
    for ingress in of(documents, "Ingress"):
        backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        assert backend["port"]["name"] == scheme, (name, backend)
        assert ingress["metadata"]["annotations"].get("nginx.ingress.kubernetes.io/backend-protocol", "HTTP") == scheme.upper(), name
    args = container["args"]
    if name == "secured-several":
        assert "--replica-url=http://$(POD_IP):8766" in args, args
    if name == "secured-kubernetes":
        assert "--worker-url=http://of-berth-queue.berth.svc:8766" in args and "of-berth-queue" in services, args
    if name == "secured":
        keys = {e["name"]: e.get("valueFrom", {}).get("secretKeyRef", {}).get("name") for e in container["env"]}
        assert keys == {"AWS_ACCESS_KEY_ID": "s3", "AWS_SECRET_ACCESS_KEY": "s3", "AWS_SESSION_TOKEN": "s3", "AWS_REGION": None}, keys
END
grep -q 'maxUnavailable: 0' "$tmp/several.yaml" || fail "an update takes a pod away before there is another one"
grep -q -- '- --kube-gpu-class=gpu.nvidia.com' "$tmp/devices.yaml" || fail "the class of devices is not passed on"
grep -q 'resource.k8s.io' "$tmp/devices.yaml" || fail "with a class of devices there is no right to claim them"
if grep -q 'gpu-class\|resource.k8s.io' "$tmp/kubernetes.yaml"; then fail "devices are claimed though no class is set"; fi
grep -q 'type: Recreate' "$tmp/one.yaml" || fail "two pods open one file"
echo "ok: the chart, by helm lint and the schemas of Kubernetes"

# serves FILE: runs the program as in the pod: a volume that is open to its group, keys that the group may read, a user who is not root. It then
# serves at $url.
serves() {
	if [ -n "$server" ]; then kill "$server" && wait "$server" || true; fi
	rm -rf "$tmp/data" "$tmp/etc" "$tmp/ready"
	mkdir -p "$tmp/data" "$tmp/etc/berth" "$tmp/etc/berth-key" "$tmp/etc/berth-tls"
	cp "$tmp/tls.crt" "$tmp/tls.key" "$tmp/etc/berth-tls"
	chmod 440 "$tmp"/etc/berth-tls/*
	"$venv/bin/python" - "$tmp" "$1" <<'END'
import base64, os, sys, yaml
tmp, file = sys.argv[1:]
documents = {d["kind"]: d for d in yaml.safe_load_all(open(file))}
for name, content in documents["ConfigMap"]["data"].items():
    open(f"{tmp}/etc/berth/{name}", "w").write(content)
open(f"{tmp}/etc/berth-key/secret.key", "wb").write(base64.b64decode(documents["Secret"]["data"]["secret.key"]))
os.chmod(f"{tmp}/etc/berth-key/secret.key", 0o440)
os.chmod(f"{tmp}/data", 0o2775)
args = documents["Deployment"]["spec"]["template"]["spec"]["containers"][0]["args"]
open(f"{tmp}/args", "w").writelines(a.replace("=/", f"={tmp}/").replace("0.0.0.0:8765", "127.0.0.1:0").replace("0.0.0.0:8766", "127.0.0.1:0") + "\n" for a in args)
END
	local as=()
	if [ "$(id -u)" = 0 ]; then
		chmod 711 "$tmp"
		chown 0:65532 "$tmp/data" "$tmp"/etc/berth-key/* "$tmp"/etc/berth-tls/*
		as=(setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all)
	fi
	mapfile -t args <"$tmp/args"
	"${as[@]}" env "${@:2}" "$tmp/berth" "${args[@]}" --json >"$tmp/ready" 2>"$tmp/log" &
	server=$!
	for _ in $(seq 1200); do
		if [ -s "$tmp/ready" ] || ! kill -0 $server 2>/dev/null; then break; fi
		sleep 0.1
	done
	[ -s "$tmp/ready" ] || fail "the program does not serve as it does in a pod: $(cat "$tmp/log")"
	url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$tmp/ready")
}
cp bin/berth "$tmp/berth"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=pods.example.com -addext subjectAltName=DNS:pods.example.com \
	-keyout "$tmp/tls.key" -out "$tmp/tls.crt" 2>/dev/null
serves "$tmp/one.yaml"
curl -sf -o /dev/null "$url/readyz" || fail "it is not ready"
curl -sf -o /dev/null -H 'Host: of-berth.berth.svc.cluster.local' "$url/readyz" || fail "it does not answer under the name of its Service"
serves "$tmp/secured.yaml" AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=eu-north-1 AWS_ENDPOINT_URL=http://127.0.0.1:1
port=${url##*:}
# A probe asks for the address of the pod and believes any certificate; clients ask for the name.
curl -sfk -o /dev/null "https://127.0.0.1:$port/readyz" || fail "a probe finds it not ready"
curl -sf -o /dev/null --cacert "$tmp/tls.crt" --resolve "pods.example.com:$port:127.0.0.1" "https://pods.example.com:$port/readyz" || fail "it does not speak HTTPS"
curl -sf -o /dev/null -H 'Host: of-berth-queue.berth.svc' "$(sed 's/.*"queueUrl":"\([^"]*\)".*/\1/' "$tmp/ready")/readyz" || fail "the queue of workers does not answer"
for _ in $(seq 1200); do
	if grep -q 's3://backups/of/berth' "$tmp/log"; then break; fi
	sleep 0.1
done
grep -q 's3://backups/of/berth' "$tmp/log" || fail "it does not say that the place of its backups takes nothing: $(cat "$tmp/log")"
echo "ok: the program serves with the arguments, the settings and the rights of a pod, also with a certificate and a place for backups"
