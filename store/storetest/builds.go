package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func builds(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func(of compute.EndpointID) []compute.Build {
		return read(t, s, func(tx store.Tx) ([]compute.Build, error) { return firstPage(tx.PageBuilds(of, wide)) })
	}
	live := func() []compute.Build {
		return read(t, s, func(tx store.Tx) ([]compute.Build, error) { return tx.LiveBuilds() })
	}
	require.Empty(t, list("e"))

	first := compute.Build{ID: "a", EndpointID: "e", Status: compute.BuildPending, Image: "i", CreatedAt: start}
	second, other := first, first
	second.ID, other.ID, other.EndpointID = "b", "c", "f"
	for _, b := range []compute.Build{first, second, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertBuild(b) })
	}
	require.Equal(t, []compute.Build{second, first}, list("e"))
	require.Equal(t, []compute.Build{first, second, other}, live())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertBuild(first) })))

	log := []compute.LogLine{{Source: compute.LogContainer, Position: 1, Text: "a \"line\"\n"}, {Source: compute.LogSystem, Position: 2}}
	moved := first
	moved.Status, moved.Error, moved.StartedAt, moved.EndedAt, moved.Image = compute.BuildFailed, "why", start, start.Add(time.Second), "not written"
	move := func(from compute.BuildStatus, lines []compute.LogLine) (ok bool) {
		write(t, s, func(tx store.Tx) (err error) {
			ok, err = tx.MoveBuild(moved, from, lines)
			return err
		})
		return ok
	}
	require.False(t, move(compute.BuildBuilding, log))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.LogLine, error) { return tx.BuildLog("a") }))
	require.True(t, move(compute.BuildPending, log))
	require.True(t, move(compute.BuildFailed, nil), "the log stays")
	moved.Image = "i"
	require.Equal(t, moved, read(t, s, func(tx store.Tx) (compute.Build, error) { return tx.Build("a") }))
	require.Equal(t, log, read(t, s, func(tx store.Tx) ([]compute.LogLine, error) { return tx.BuildLog("a") }))
	require.Equal(t, []compute.Build{second, other}, live())

	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	require.Empty(t, list("e"))
	require.Equal(t, []compute.Build{other}, list("f"))
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Build, error) { return tx.Build("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.LogLine, error) { return tx.BuildLog("a") }))
}

// buildsKept inserts builds of which those that are to be forgotten are the first, but for one that is live and one whose image is the
// endpoint's.
func buildsKept(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Image: "image 1", CreatedAt: start})
	})
	for n := range compute.BuildsKept + 4 {
		b := compute.Build{ID: compute.BuildID(fmt.Sprint(n)), EndpointID: "e", Status: compute.BuildCompleted, Image: fmt.Sprint("image ", n), CreatedAt: start, EndedAt: start}
		if n == 2 {
			b.Status, b.EndedAt = compute.BuildPending, time.Time{}
		}
		write(t, s, func(tx store.Tx) error { return tx.InsertBuild(b) })
	}

	var left []compute.BuildID
	for _, b := range read(t, s, func(tx store.Tx) ([]compute.Build, error) { return firstPage(tx.PageBuilds("e", wide)) }) {
		left = append(left, b.ID)
	}
	require.Len(t, left, compute.BuildsKept+2)
	require.Equal(t, []compute.BuildID{"4", "2", "1"}, left[compute.BuildsKept-1:])
}
