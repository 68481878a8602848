package kubetest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Node is a machine of the cluster.
type Node struct {
	Name                               string
	CPUs, MemoryGB, DiskGB, GPUs       int64
	Product, Zone, External, TaintedBy string // TaintedBy: the key of a taint that keeps others away
	CUDA                               string // the version that its driver runs
}

// AddNode adds a machine, which is ready.
func (s *Server) AddNode(t testing.TB, n Node) {
	t.Helper()
	labels := object{"kubernetes.io/hostname": n.Name}
	if n.Product != "" {
		labels["nvidia.com/gpu.product"] = n.Product
	}
	if n.CUDA != "" {
		labels["nvidia.com/cuda.runtime-version.full"] = n.CUDA
	}
	if n.Zone != "" {
		labels["topology.kubernetes.io/zone"] = n.Zone
	}
	has := object{
		"cpu": strconv.FormatInt(n.CPUs, 10), "memory": fmt.Sprintf("%dKi", n.MemoryGB<<20), "ephemeral-storage": strconv.FormatInt(n.DiskGB<<30, 10), "pods": "110",
	}
	if n.GPUs > 0 {
		has["nvidia.com/gpu"] = strconv.FormatInt(n.GPUs, 10)
	}
	addresses := []any{object{"type": "InternalIP", "address": "127.0.0.1"}, object{"type": "Hostname", "address": n.Name}}
	if n.External != "" {
		addresses = append(addresses, object{"type": "ExternalIP", "address": n.External})
	}

	o := object{"kind": "Node", "apiVersion": "v1", "metadata": object{"name": n.Name, "labels": labels}, "spec": object{}, "status": object{
		"capacity": clone(has), "allocatable": has, "addresses": addresses,
		"conditions": []any{object{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}},
	}}
	if n.TaintedBy != "" {
		put(o, []any{object{"key": n.TaintedBy, "value": "present", "effect": "NoSchedule"}}, "spec", "taints")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	_, bad := s.create(nodes, o)
	require.Nil(t, bad)
}

// Cordon has a node take nothing new, or take it again.
func (s *Server) Cordon(name string, cordoned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(nodes, name, "", func(o object) { put(o, cordoned, "spec", "unschedulable") })
}

// SilenceNode has a node not report any more, as when its machine has no power: its containers end, and nothing shows it.
func (s *Server) SilenceNode(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[name] = true
	s.change(nodes, name, "", func(o object) {
		setCondition(o, object{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."})
	})
	for _, p := range s.on(name) {
		s.change(pods, nameOf(p), uidOf(p), func(o object) {
			setCondition(o, object{"type": "Ready", "status": "False", "lastTransitionTime": s.now()})
		})
		if run := s.running[uidOf(p)]; run != nil {
			run.signal(true)
		}
	}
}

// RemoveNode takes a node away, after it was silent.
func (s *Server) RemoveNode(name string) {
	s.SilenceNode(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.stored[nodes][name]; o != nil {
		s.commit("DELETED", nodes, clone(o))
	}
}

// CollectOrphans does what the collector of Pods does with those whose node is gone.
func (s *Server) CollectOrphans() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.on("") {
		name := text(p, "spec", "nodeName")
		if name == "" || s.stored[nodes][name] != nil {
			continue
		}
		s.change(pods, nameOf(p), uidOf(p), func(o object) {
			put(o, "Failed", "status", "phase")
			setCondition(o, object{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "PodGC: node no longer exists", "lastTransitionTime": s.now()})
		})
		_, _ = s.remove(pods, nameOf(p), object{"gracePeriodSeconds": 0.0})
	}
}

// on gives the Pods on a node; all if it has no name. The caller has the lock.
func (s *Server) on(node string) (all []object) {
	for _, p := range s.stored[pods] {
		if node == "" || text(p, "spec", "nodeName") == node {
			all = append(all, p)
		}
	}
	return all
}

// disrupt deletes a Pod as a controller does, which says why. Grace is in seconds.
func (s *Server) disrupt(name, reason, message string, grace int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(pods, name, "", func(o object) {
		setCondition(o, object{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message, "lastTransitionTime": s.now()})
	})
	_, _ = s.remove(pods, name, object{"gracePeriodSeconds": float64(grace)})
}

// Drain evicts a Pod as kubectl drain does.
func (s *Server) Drain(pod string) {
	s.disrupt(pod, "EvictionByEvictionAPI", "Eviction API: evicting", 5)
}

// Preempt has a Pod make room for another one.
func (s *Server) Preempt(pod string) {
	s.disrupt(pod, "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod", 5)
}

// TaintEvict deletes the Pods of a silent node, as the controller of taints does.
func (s *Server) TaintEvict(node string, grace int) {
	s.mu.Lock()
	var names []string
	for _, p := range s.on(node) {
		names = append(names, nameOf(p))
	}
	s.mu.Unlock()
	for _, name := range names {
		s.disrupt(name, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", grace)
	}
}

// Evict has the node of a Pod end it, for want of something.
func (s *Server) Evict(pod, message string) { s.fail(pod, "Evicted", message) }

// Overrun has a Pod run for longer than it may.
func (s *Server) Overrun(pod string) {
	s.fail(pod, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
}

func (s *Server) fail(pod, reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.running[uidOf(s.stored[pods][pod])]; run != nil {
		run.why = object{"reason": reason, "message": message}
		run.signal(true)
	}
}

// Exhaust has a Pod use more memory than it may.
func (s *Server) Exhaust(pod string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.running[uidOf(s.stored[pods][pod])]; run != nil {
		run.exhausted = true
		run.signal(true)
	}
}

// Delete deletes a Pod as kubectl does.
func (s *Server) Delete(t testing.TB, pod string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, bad := s.remove(pods, pod, object{"gracePeriodSeconds": 5.0})
	require.Nil(t, bad)
}

// Erase takes an object out of the store, as who takes away its finalizers by hand.
func (s *Server) Erase(resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.stored[resource][name]; o != nil {
		s.commit("DELETED", resource, clone(o))
	}
}

// Left gives what there is beside nodes and their devices, as resource/name.
func (s *Server) Left() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range []string{pods, secrets, services, claims, deviceClaims} {
		for name := range s.stored[resource] {
			all = append(all, resource+"/"+name)
		}
	}
	return all
}

// Object gives an object as it is stored; nil if there is none.
func (s *Server) Object(resource, name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.stored[resource][name]; o != nil {
		return clone(o)
	}
	return nil
}

// Put stores an object.
func (s *Server) Put(t testing.TB, resource string, o map[string]any) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	o["kind"], o["apiVersion"] = kinds[resource], versionOf(resource)
	_, bad := s.create(resource, clone(o))
	require.Nil(t, bad)
}

// suffixes are those of amounts.
var suffixes = map[string]float64{"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}

// amount reads a quantity.
func amount(value any) (float64, bool) {
	text, _ := value.(string)
	end := strings.LastIndexAny(text, "0123456789") + 1
	n, err := strconv.ParseFloat(text[:end], 64)
	factor, known := suffixes[text[end:]]
	return n * factor, err == nil && known && !math.IsNaN(n)
}

var _ http.Handler = (*Server)(nil)
