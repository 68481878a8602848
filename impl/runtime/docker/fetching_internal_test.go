package docker

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func TestInspect_SaysThatTheImageIsBeingFetched(t *testing.T) {
	t.Parallel()
	for _, policy := range []PullPolicy{PullIfAbsent, PullAlways} {
		one := newFakeEngine(t)
		asked, cut, pulled := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var pulls atomic.Int64
		one.answers(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/images/create") {
				lacks(w, r)
				return
			}
			on := []chan struct{}{cut, pulled}[pulls.Add(1)-1]
			asked <- struct{}{}
			select {
			case <-on:
			case <-r.Context().Done():
			}
			if on == cut {
				panic(http.ErrAbortHandler) // the connection is cut
			}
		})
		h, err := New(Config{Owner: "o", Host: one.address(), Pull: policy, Clock: compute.SystemClock{}})
		require.NoError(t, err)
		defer func() { require.NoError(t, h.Close()) }()
		fetches := func() bool {
			state, err := h.Inspect(t.Context(), "a")
			require.NoError(t, err)
			return state.Phase == runtime.Starting && state.Fetching && state.Generation == 3
		}

		require.NoError(t, h.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", Generation: 3}))
		<-asked
		require.True(t, fetches())
		close(cut)
		<-asked
		require.True(t, fetches(), "the next try goes on with it")
		close(pulled)
		require.Eventually(t, func() bool {
			state, err := h.Inspect(t.Context(), "a")
			require.NoError(t, err)
			return state.Phase == runtime.Up && !state.Fetching
		}, 30*time.Second, time.Millisecond)
	}
}
