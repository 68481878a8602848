package docker

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestReadGPUs_ReadsLineByLine(t *testing.T) {
	t.Parallel()
	text := "0, GPU-aa, 37, 1024, 4096\n1, GPU-bb, [N/A], 0, 4096\nno line\n2, GPU-cc, 100, 4096, 4096\n"
	first, third := compute.GPUUse{Percent: 37, MemoryPercent: 25}, compute.GPUUse{Percent: 100, MemoryPercent: 100}
	require.Equal(t, map[string]compute.GPUUse{"0": first, "GPU-aa": first, "2": third, "GPU-cc": third}, readGPUs(text))
}

// A tool that hangs, as it does with a broken GPU, holds up nobody, and is asked once.
func TestMeasureGPUs_WaitsForNobodyForLong(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	release := make(chan struct{})
	h := &Runtime{}
	h.config.Clock = compute.SystemClock{}
	h.config.MeasureGPUs = func(context.Context) ([]byte, error) {
		calls.Add(1)
		<-release
		return []byte("0, GPU-aa, 37, 1024, 4096\n"), nil
	}

	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() { assert.Empty(t, h.measureGPUs(t.Context())) })
	}
	waiting.Wait()
	require.EqualValues(t, 1, calls.Load())
	close(release)
	require.Eventually(t, func() bool { return len(h.measureGPUs(t.Context())) == 2 }, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 1, calls.Load())
}
