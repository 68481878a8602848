package kubernetes

import (
	"context"
	"net/http"
	"net/url"

	"github.com/berthdev/berth/impl/runtime"
)

// Stats gives what the metrics API of the cluster measured last: of CPU, over its window. ErrNoStats where there is no such API.
func (h *Runtime) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	if err := h.ready(ctx); err != nil {
		return runtime.Stats{}, err
	}
	p, state, err := h.find(id)
	if err != nil || state.Phase != runtime.Up {
		return runtime.Stats{}, err
	}

	var m podMetrics
	name := p.Metadata.Name
	path := "/apis/metrics.k8s.io/v1beta1/namespaces/" + url.PathEscape(h.client.namespace) + "/pods/" + url.PathEscape(name)
	err = h.client.do(ctx, call{what: "get metrics of pod " + name, method: http.MethodGet, path: path}, &m)
	switch {
	case isGone(err) && !because(err, ""): // it was not measured yet
		return runtime.Stats{}, nil
	case isGone(err):
		return runtime.Stats{}, runtime.ErrNoStats
	case err != nil:
		return runtime.Stats{}, err
	}

	var cpu, memory float64
	for _, c := range m.Containers {
		cpu += c.Usage["cpu"].value()
		memory += c.Usage["memory"].value()
	}
	limits := p.Spec.Containers[0].Resources.Limits
	h.mu.Lock()
	n := h.known[p.Spec.NodeName]
	h.mu.Unlock()
	return runtime.Stats{CPUPercent: percent(cpu, limitOf(limits, n, "cpu")), MemoryPercent: percent(memory, limitOf(limits, n, "memory"))}, nil
}

// limitOf is what a container may use of something: all that its node has if nothing limits it.
func limitOf(limits map[string]quantity, n *node, of string) float64 {
	if limit := limits[of].value(); limit > 0 || n == nil {
		return limit
	}
	return n.Status.Allocatable[of].value()
}

func percent(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(100, max(0, 100*part/whole))
}
