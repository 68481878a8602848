#!/usr/bin/env bash
# Starts a Kubernetes cluster for tests, of the programs that build.sh has built: the real API server, scheduler and controller manager over
# etcd, with nodes that kwok simulates. up.sh PROGRAMS DIR: writes DIR/admin.kubeconfig, and DIR/berth.kubeconfig with the rights that the
# chart gives; prints "ready" and stays until it is ended. SIGUSR1 kills the API server, which is started again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
programs=$1 dir=$2
mkdir -p "$dir"
# Ports that nobody listens at, below those that the system gives to who asks for any: they are used later.
read -r client peer port node kwok < <(python3 -c 'import random, socket
held = []
while len(held) < 5:
    try: held.append(socket.create_server(("127.0.0.1", random.randrange(20000, 30000))))
    except OSError: pass
print(*(s.getsockname()[1] for s in held))')

pids=()
end() {
	trap - EXIT
	kill -9 ${server:-} "${pids[@]}" 2>/dev/null || true # none of it is to be kept
	wait
}
trap end EXIT
trap exit INT TERM

openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2>/dev/null
printf 'admin-token,admin,admin,system:masters\nberth-token,berth,berth\n' >"$dir/tokens.csv"
for user in admin berth; do
	cat >"$dir/$user.kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: $user, namespace: berth}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}]
users: [{name: $user, user: {token: $user-token}}]
END
done

"$programs/etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
	--listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" \
	--unsafe-no-fsync >"$dir/etcd.log" 2>&1 &
pids+=($!)

# Without a cache of what is watched: it takes an etcd of 3.5 or later, and with an older one watches end again and again.
serve() {
	"$programs/kube-apiserver" --etcd-servers "http://127.0.0.1:$client" --bind-address 127.0.0.1 --secure-port "$port" --cert-dir "$dir/certs" \
		--watch-cache=false --token-auth-file "$dir/tokens.csv" --authorization-mode RBAC --disable-admission-plugins ServiceAccount \
		--service-cluster-ip-range 10.96.0.0/16 --service-account-issuer https://cluster.test \
		--kubelet-preferred-address-types InternalIP --service-account-key-file "$dir/sa.pub" --service-account-signing-key-file "$dir/sa.key" >>"$dir/apiserver.log" 2>&1 &
	server=$!
}
serve
ask() { curl -sk -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer admin-token' "https://127.0.0.1:$port/$1"; }
for _ in $(seq 1500); do
	[ "$(ask readyz)" != 200 ] || break
	sleep 0.2
done
[ "$(ask readyz)" = 200 ] || { tail -20 "$dir/apiserver.log"; exit 1; }

"$programs/kube-scheduler" --kubeconfig "$dir/admin.kubeconfig" --leader-elect=false --secure-port 0 >"$dir/scheduler.log" 2>&1 &
pids+=($!)
"$programs/kube-controller-manager" --kubeconfig "$dir/admin.kubeconfig" --leader-elect=false --secure-port 0 \
	--service-account-private-key-file "$dir/sa.key" >"$dir/controllers.log" 2>&1 &
pids+=($!)
python3 "$here/objects.py" "https://127.0.0.1:$port" prepare
# A Pod takes a moment to come up, so that it is seen on its way.
awk '/^---/ { ready = 0 } /name: pod-ready/ { ready = 1 } ready && /^  next:/ { print "  delay:\n    durationMilliseconds: 1000" } { print }' \
	"$programs/stages.yaml" >"$dir/stages.yaml"
# Commands in Pods are processes of this machine, and the program node, which stands before kwok, runs them.
sed -i "s/Port: {{ \. }}/Port: $node/" "$dir/stages.yaml"
grep -q "Port: $node" "$dir/stages.yaml" || { echo "the stage of nodes names no port"; exit 1; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=node -keyout "$dir/node.key" -out "$dir/node.pem" 2>/dev/null
"$programs/kwok" --node-ip 127.0.0.1 --node-port "$kwok" --tls-cert-file "$dir/node.pem" --tls-private-key-file "$dir/node.key" --kubeconfig "$dir/admin.kubeconfig" --config "$dir/stages.yaml" --manage-all-nodes=false \
	--manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake >"$dir/kwok.log" 2>&1 &
pids+=($!)
"$programs/node" --listen "127.0.0.1:$node" --kwok "127.0.0.1:$kwok" --cert "$dir/node.pem" --key "$dir/node.key" --dir "$dir" >"$dir/node.log" 2>&1 &
pids+=($!)

echo ready "https://127.0.0.1:$port"
restart() {
	kill -9 "$server"
	wait "$server" 2>/dev/null || true
	serve
}
trap restart USR1
while true; do
	sleep 0.2 &
	wait $! || true
done
