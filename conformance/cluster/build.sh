#!/usr/bin/env bash
# Builds the programs of the test cluster, once for each version, and prints the directory that has them. build.sh CACHE: some 12 minutes
# on two processors. etcd is the package of the system.
set -euo pipefail
cd "$(dirname "$0")"
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)-$(go list -m -f '{{.Version}}' sigs.k8s.io/kwok)
out=$1/$version
if [ ! -e "$out/stages.yaml" ]; then
	mkdir -p "$out"
	go build -trimpath -ldflags '-s -w' -o "$out/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-scheduler \
		k8s.io/kubernetes/cmd/kube-controller-manager sigs.k8s.io/kwok/cmd/kwok >&2
	stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
	for stage in "$stages"/node/fast/node-initialize.yaml "$stages"/node/heartbeat/node-heartbeat.yaml "$stages"/pod/fast/pod-{complete,delete,ready}.yaml \
		"$stages"/volume/fast/{pv-bind,pv-delete,pvc-provision,pvc-delete}.yaml; do
		echo ---
		cat "$stage"
	done >"$out/stages.tmp"
	mv "$out/stages.tmp" "$out/stages.yaml"
fi
go build -trimpath -o "$out/" ./node >&2
[ -x "$out/helm" ] || GOBIN=$out go install helm.sh/helm/v3/cmd/helm@v3.22.0 >&2
ln -sf "$(command -v etcd)" "$out/etcd"
echo "$out"
