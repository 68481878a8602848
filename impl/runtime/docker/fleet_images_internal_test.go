package docker

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// lacks answers that there is no such image.
func lacks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte(`{"message":"there is none"}`))
}

// What one engine does not say keeps no start waiting that another one can have its image from.
func TestFetch_IsNotHeldUpByAnEngineThatHangs(t *testing.T) {
	t.Parallel()
	image := runtime.BuiltImages + "b"
	to, hung, empty := newFakeEngine(t), newFakeEngine(t), newFakeEngine(t)
	asked := make(chan struct{}, 1)
	to.answers(lacks)
	empty.answers(lacks)
	hung.answers(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	f := openFleet(t, nil, to, hung, empty)

	got := make(chan error, 1)
	go func() { got <- f.fetch(t.Context(), image, f.on("1").Runtime) }()
	<-asked
	f.on("2").cease(errors.New("it hangs"))
	select {
	case err := <-got:
		require.ErrorIs(t, err, runtime.ErrUnavailable, "the image may be there")
	case <-time.After(time.Minute):
		require.Fail(t, "it is waited for")
	}
}

func TestFetch_SaysThatAnImageIsGone(t *testing.T) {
	t.Parallel()
	to, empty := newFakeEngine(t), newFakeEngine(t)
	to.answers(lacks)
	empty.answers(lacks)
	f := openFleet(t, nil, to, empty)
	image := runtime.BuiltImages + "b"
	require.EqualError(t, f.fetch(t.Context(), image, f.on("1").Runtime), errNotBuilt(image).Error())

	empty.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	require.ErrorIs(t, f.fetch(t.Context(), image, f.on("1").Runtime), runtime.ErrUnavailable)

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, f.fetch(ended, image, f.on("1").Runtime), context.Canceled)
}
