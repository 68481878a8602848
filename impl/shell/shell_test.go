package shell_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell"
)

// endpoints has workers of everybody.
type endpoints struct{}

func (endpoints) Worker(context.Context, compute.UserID, compute.EndpointID, compute.WorkerID) (compute.Endpoint, error) {
	return compute.Endpoint{}, nil
}

func TestBegin_SessionsAreBoundedOfAWorkerOfAUserAndInAll(t *testing.T) {
	t.Parallel()
	s := shell.New(shell.Config{Workers: endpoints{}, OfWorker: func(compute.Endpoint) runtime.Execer { return nil }})
	var open []*shell.Session
	begin := func(user, worker string) error {
		target, err := s.Worker(t.Context(), compute.UserID(user), "e", compute.WorkerID(worker))
		require.NoError(t, err)
		one, err := s.Begin(target, shell.By{User: compute.UserID(user)})
		if err == nil {
			open = append(open, one)
		}
		return err
	}
	fill := func(user string, most int) {
		t.Helper()
		for n := range most {
			require.NoError(t, begin(user, fmt.Sprint(user, n/64)))
		}
	}

	fill("one", 64)
	require.ErrorContains(t, begin("one", "one0"), "64 sessions")
	for n := range 768 - 64 {
		require.NoError(t, begin("one", fmt.Sprint("more", n/64)))
	}
	err := begin("one", "another")
	require.Equal(t, compute.TooMany, compute.CodeOf(err))
	require.ErrorContains(t, err, "768 of a user")

	fill("two", 256)
	require.ErrorContains(t, begin("three", "another"), "1024 in all")
	open[0].End()
	open[0].End()
	require.NoError(t, begin("three", "another"))
	require.ErrorContains(t, begin("three", "another"), "1024 in all")
	for _, one := range open {
		one.End()
	}
	fill("one", 64)
}
