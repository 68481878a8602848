package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"

	"github.com/berthdev/berth/impl/runtime"
)

const gigabyte = 1 << 30

// replaceNodes takes in a list of all nodes.
func (h *Runtime) replaceNodes(all []node, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := h.known
	h.known = map[string]*node{}
	for i := range all {
		n := &all[i]
		delete(gone, n.Metadata.Name)
		delete(h.lost, n.Metadata.Name)
		h.known[n.Metadata.Name] = n
	}
	for name := range gone {
		h.lost[name] = true
	}

	used := map[string]bool{}
	for _, e := range h.entries {
		used[e.pod.Spec.NodeName] = true
	}
	for name := range h.lost {
		if !used[name] {
			delete(h.lost, name)
		}
	}
	h.judgeOn("")
	h.changedHosts()
}

// changeNode takes in an event.
func (h *Runtime) changeNode(kind string, n *node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := n.Metadata.Name
	before := h.known[name]
	if kind == eventDeleted {
		delete(h.known, name)
		h.lost[name] = true
	} else {
		h.known[name] = n
		delete(h.lost, name)
		if before != nil && h.report(before) == h.report(n) {
			return
		}
	}
	h.judgeOn(name)
	h.changedHosts()
}

// judgeOn finds out whether Pods on the node have ended with it; on all nodes if it has no name. The caller has the lock.
func (h *Runtime) judgeOn(name string) {
	for _, e := range h.entries {
		if e.over || name != "" && e.pod.Spec.NodeName != name {
			continue
		}
		h.judge(e)
		if e.over {
			h.notify(e.pod.Metadata.Labels[labelAllocation])
		}
	}
}

// changedHosts leaves a hint that hosts have changed.
func (h *Runtime) changedHosts() { hint(h.hosts) }

// hint leaves a hint, unless one is there.
func hint(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// HostsChanged delivers a hint after nodes have changed, or what Pods take of them.
func (h *Runtime) HostsChanged() <-chan struct{} { return h.hosts }

// Hosts gives the nodes, by their names: none if berth may not read them. Taken is what Pods of this owner ask for.
func (h *Runtime) Hosts(ctx context.Context) ([]runtime.HostReport, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	if h.isBlind() {
		return nil, nil
	}
	if ok, _ := h.nodes.known(); !ok {
		return nil, fmt.Errorf("%w: the nodes of the cluster are not known", runtime.ErrUnavailable)
	}
	if !h.knowsDevices() {
		return nil, fmt.Errorf("%w: the GPUs of the cluster are not known", runtime.ErrUnavailable)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	taken := map[string]*space{}
	for _, e := range h.entries {
		if name := e.pod.Spec.NodeName; name != "" && !e.over {
			if taken[name] == nil {
				taken[name] = &space{}
			}
			for _, c := range e.pod.Spec.Containers {
				taken[name].add(c.Resources.Requests, h.config.GPUResource)
			}
			taken[name].gpus += claimed(e.pod)
		}
	}

	all := make([]runtime.HostReport, 0, len(h.known))
	for name, n := range h.known {
		report := h.report(n)
		if t := taken[name]; t != nil {
			report.Taken = t.whole(math.Ceil)
		}
		all = append(all, report)
	}
	slices.SortFunc(all, func(a, b runtime.HostReport) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// report reports what a node has. The caller has the lock.
func (h *Runtime) report(n *node) runtime.HostReport {
	var has space
	has.add(n.Status.Allocatable, h.config.GPUResource)
	product, cuda := n.Metadata.Labels[h.config.GPULabel], cudaOf(n.Metadata.Labels)
	if h.config.GPUClass != "" {
		its := h.survey().nodes[n.Metadata.Name]
		has.gpus, product, cuda = float64(its.count), its.product, its.cuda
	}

	ready := conditionOf(n.Status.Conditions, conditionReady)
	all, others := h.repels(n)
	r := runtime.HostReport{
		ID: n.Metadata.Name, Zone: n.Metadata.Labels[h.config.ZoneLabel], GPUProduct: product, CUDA: cuda,
		Has: has.whole(math.Floor), Ready: ready.Status == isTrue, Draining: n.Spec.Unschedulable || all, GPUsAlone: others,
	}
	if !r.Ready {
		r.Reason = clean(cmp.Or(ready.Message, ready.Reason))
	}
	return r
}

const (
	clusterTaints = "node.kubernetes.io/" // begins the keys of those that the cluster gives by itself
	preferTaint   = "PreferNoSchedule"    // the effect of those that keep nothing away
)

// saidOtherwise are the taints of the cluster that Ready and Unschedulable say, too, or that Pods with requests tolerate.
var saidOtherwise = []string{clusterTaints + "not-ready", clusterTaints + "unreachable", clusterTaints + "unschedulable", clusterTaints + "memory-pressure"}

// repels reports whether taints of a node keep away all that berth makes, or what asks for no GPU: see tolerations.
func (h *Runtime) repels(n *node) (all, others bool) {
	for _, t := range n.Spec.Taints {
		switch {
		case t.Effect == preferTaint, slices.Contains(saidOtherwise, t.Key):
		case t.Key == h.config.GPUResource:
			others = true
		default:
			all = true
		}
	}
	return all, others
}

// The labels by which the discovery of GPU features says what version of CUDA the driver of a node runs; the older ones have it in parts.
const (
	cudaLabel      = "nvidia.com/cuda.runtime-version.full"
	cudaMajorLabel = "nvidia.com/cuda.runtime.major"
	cudaMinorLabel = "nvidia.com/cuda.runtime.minor"
)

var cudaForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}`) })

// cudaOf gives the version of CUDA that labels name; empty if they name none.
func cudaOf(labels map[string]string) string {
	return cudaForm().FindString(cmp.Or(labels[cudaLabel], labels[cudaMajorLabel]+"."+labels[cudaMinorLabel]))
}

// space is an amount of what nodes have: of memory and disk in bytes.
type space struct{ gpus, vcpus, memory, disk float64 }

func (s *space) add(amounts map[string]quantity, gpu string) {
	s.gpus += amounts[gpu].value()
	s.vcpus += amounts["cpu"].value()
	s.memory += amounts["memory"].value()
	s.disk += amounts["ephemeral-storage"].value()
}

// whole gives the amount in whole numbers, and gigabytes.
func (s space) whole(round func(float64) float64) runtime.HostSize {
	return runtime.HostSize{
		GPUs: int64(round(s.gpus)), VCPUs: int64(round(s.vcpus)), MemoryGB: int64(round(s.memory / gigabyte)), DiskGB: int64(round(s.disk / gigabyte)),
	}
}
