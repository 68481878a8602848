package kubernetes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
)

// The metrics API is a server of its own: pods come and go whether or not it answers.
func TestStats_OfAnAPIThatHangsHoldUpNothingElse(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Idle()
	h := open(t, s, kubernetes.Config{})
	ids := make([]string, 40)
	for i := range ids {
		ids[i] = fmt.Sprint("a", i)
		require.NoError(t, h.Start(t.Context(), playing(ids[i])))
	}
	for _, id := range ids {
		await(t, h, id, runtime.Up)
	}

	s.Requests()
	s.HangMetrics(true)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	measuring, end := context.WithCancel(ctx)
	defer end()
	for _, id := range ids {
		all.Go(func() {
			_, err := h.Stats(ctx, id)
			assert.ErrorIs(t, err, runtime.ErrUnavailable, "nobody waits for it for long")
			for measuring.Err() == nil {
				_, _ = h.Stats(measuring, id)
			}
		})
	}
	asked := 0
	require.Eventually(t, func() bool {
		for _, one := range s.Requests() {
			if strings.Contains(one, "/apis/metrics.k8s.io/") {
				asked++
			}
		}
		return asked >= 16
	}, patience, look)

	require.NoError(t, h.Start(ctx, playing("b")))
	await(t, h, "b", runtime.Up)
	require.NoError(t, h.Stop(ctx, "b", 0))
	require.NoError(t, h.Remove(ctx, ids[0]))
	end()
	all.Wait()

	s.HangMetrics(false)
	require.Eventually(t, func() bool {
		_, err := h.Stats(t.Context(), ids[1])
		return err == nil
	}, patience, look)
}

// patient is a clock on which a wait is never over before patience is.
type patient struct{ compute.SystemClock }

func (p patient) After(d time.Duration) (<-chan time.Time, func()) {
	return p.SystemClock.After(max(d, patience))
}

// Those that come at once wait for each other as long as answers come.
func TestStats_OfManyPodsAtOnceAreGiven(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Idle()
	h := open(t, s, kubernetes.Config{Clock: patient{}})
	start(t, h, playing("a"))
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			_, err := h.Stats(t.Context(), "a")
			assert.NoError(t, err)
		})
	}
	all.Wait()
}
