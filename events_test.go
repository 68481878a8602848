package berth_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestEvents_TellWhatChanges(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	made := make(chan struct{})
	go func() {
		defer close(made)
		for ctx.Err() == nil { // until it is told
			status, answer := send(t, "POST", s.URL()+"/v2/pods", s.Key(), `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4}}`)
			if status != 201 {
				t.Errorf("%d %s", status, answer)
				return
			}
		}
	}()

	seen := 0
	for e, err := range s.Events(ctx, "pod") {
		require.NoError(t, err)
		if e.Kind == "pod" && e.Change == "created" { // not one that was made before the stream began
			seen++
			break
		}
	}
	stop()
	<-made
	require.Equal(t, 1, seen)

	for range s.Events(ctx) {
		require.Fail(t, "its context has ended")
	}
	for _, err := range s.Events(t.Context(), "pods") {
		require.ErrorContains(t, err, "query.kinds")
	}
}
