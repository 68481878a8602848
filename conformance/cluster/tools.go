//go:build tools

// Package cluster names the programs of a Kubernetes cluster that build.sh builds, so that go.mod has their versions. It is a module of its
// own: nothing of it is part of berth.
package cluster

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
