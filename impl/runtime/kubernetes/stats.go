package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// Whoever looks at a pod waits for its measurement, which comes again a moment later: one that is late is not worth that.
const (
	statsTime = 3 * time.Second        // for an answer of the metrics API, with what is waited in between
	statsWait = 250 * time.Millisecond // for other measurements to be done: as long as the API is well, it gives many in that
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

	m, err := h.client.measure(ctx, p.Metadata.Name)
	switch {
	case isGone(err): // it was not measured yet
		return runtime.Stats{}, nil
	case answered(err, http.StatusNotFound):
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

// measure asks the metrics API about a Pod. That API is another server than that of the Pods, and may be slow or hang while that one is well.
func (c *client) measure(ctx context.Context, pod string) (m podMetrics, err error) {
	r := call{
		what: "get metrics of pod " + pod, method: http.MethodGet, apart: true,
		path: "/apis/metrics.k8s.io/v1beta1/namespaces/" + url.PathEscape(c.namespace) + "/pods/" + url.PathEscape(pod),
	}
	over, stop := c.clock.After(statsWait)
	defer stop()
	select {
	case c.stats <- struct{}{}:
		defer func() { <-c.stats }()
	case <-over:
		return m, fmt.Errorf("%w: kubernetes: %s: others wait for the metrics API", runtime.ErrUnavailable, r.what)
	case <-ctx.Done():
		return m, ctx.Err()
	}

	short, cancel := context.WithTimeout(ctx, statsTime)
	defer cancel()
	err = c.do(short, r, &m)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		err = fmt.Errorf("%w: kubernetes: %s: no answer within %s", runtime.ErrUnavailable, r.what, statsTime)
	}
	return m, err
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
