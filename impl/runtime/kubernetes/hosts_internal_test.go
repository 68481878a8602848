package kubernetes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCUDAOf(t *testing.T) {
	t.Parallel()
	for want, labels := range map[string]map[string]string{
		"":     {},
		"12.8": {cudaLabel: "12.8", cudaMajorLabel: "11", cudaMinorLabel: "1"},
		"12.4": {cudaLabel: "12.4.1"},
		"11.8": {cudaMajorLabel: "11", cudaMinorLabel: "8"},
	} {
		require.Equal(t, want, cudaOf(labels))
	}
	require.Empty(t, cudaOf(map[string]string{cudaLabel: "later"}))
	require.Empty(t, cudaOf(map[string]string{cudaMajorLabel: "12"}))
}

func TestPrecise(t *testing.T) {
	t.Parallel()
	second := time.Unix(1_700_000_000, 0).UTC()
	asked := func(after time.Duration) *pod {
		return &pod{Metadata: meta{Annotations: map[string]string{annotationAsked: second.Add(after).Format(askedForm)}}}
	}
	for after, want := range map[time.Duration]time.Duration{
		-time.Millisecond: 0, 0: 0, 300 * time.Millisecond: 300 * time.Millisecond, 999 * time.Millisecond: 999 * time.Millisecond, time.Second: 0,
	} {
		require.Equal(t, second.Add(want), precise(second, asked(after)), after)
	}
	require.Zero(t, precise(time.Time{}, asked(0)))
	require.Equal(t, second, precise(second, &pod{}), "a Pod of before")
}

func TestReport_TaintsKeepAwayWhatDoesNotTolerateThem(t *testing.T) {
	t.Parallel()
	h := copied()
	h.config.GPUResource = DefaultGPUResource
	for name, test := range map[string]struct {
		taints              []taint
		draining, gpusAlone bool
	}{
		"none":                    {},
		"of an operator":          {[]taint{{"dedicated", "NoSchedule"}}, true, false},
		"that ends Pods":          {[]taint{{"dedicated", "NoExecute"}}, true, false},
		"that is a wish":          {[]taint{{"dedicated", "PreferNoSchedule"}}, false, false},
		"of the control plane":    {[]taint{{"node-role.kubernetes.io/control-plane", "NoSchedule"}}, true, false},
		"of the cluster, for now": {[]taint{{"node.kubernetes.io/unreachable", "NoExecute"}}, false, false},
		"of a disk that is full":  {[]taint{{"node.kubernetes.io/disk-pressure", "NoSchedule"}}, true, false},
		"for GPUs":                {[]taint{{"nvidia.com/gpu", "NoSchedule"}}, false, true},
		"for GPUs of an operator": {[]taint{{"nvidia.com/gpu", "NoSchedule"}, {"dedicated", "NoSchedule"}}, true, true},
	} {
		r := h.report(&node{Metadata: meta{Name: "n1"}, Spec: nodeSpec{Taints: test.taints}})
		require.Equal(t, test.draining, r.Draining, name)
		require.Equal(t, test.gpusAlone, r.GPUsAlone, name)
	}
}
