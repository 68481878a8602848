package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// listed gives the ids of the jobs that a search reads, and the last place.
func listed(t *testing.T, s store.Store, search store.JobSearch) (ids []compute.JobID, last compute.Position) {
	t.Helper()
	for _, one := range read(t, s, func(tx store.Tx) ([]store.FoundJob, error) { return tx.ListJobs(search) }) {
		ids, last = append(ids, one.ID), one.At
	}
	return ids, last
}

// timedJobID is an id that stands in the order of n.
func timedJobID(n int) compute.JobID {
	return compute.JobID(fmt.Sprintf("00000000-0000-7%03x-8000-000000000000", n))
}

func jobsListed(t *testing.T, open Open) {
	s, _ := begin(t, open)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	for n, status := range []compute.JobStatus{compute.JobCompleted, compute.JobInQueue, compute.JobFailed, compute.JobInProgress, compute.JobCancelled, compute.JobCompleted} {
		j := job(timedJobID(n))
		j.EndpointID, j.Status, j.CreatedAt = "listed", status, at(n/2) // two of each time
		if status.Ended() {
			j.EndedAt = at(10)
		}
		if status == compute.JobFailed {
			j.Error = "It 100%_broke! " + strings.Repeat("é", 500)
		}
		insertJobs(t, s, j)
	}
	other := job(timedJobID(9))
	other.EndpointID, other.CreatedAt = "other", at(1)
	insertJobs(t, s, other)

	ids := func(numbers ...int) (all []compute.JobID) {
		for _, n := range numbers {
			all = append(all, timedJobID(n))
		}
		return all
	}

	all, _ := listed(t, s, store.JobSearch{EndpointID: "listed", Limit: 10})
	require.Equal(t, ids(5, 4, 3, 2, 1, 0), all)
	first, place := listed(t, s, store.JobSearch{EndpointID: "listed", Limit: 3})
	require.Equal(t, ids(5, 4, 3), first)
	rest, _ := listed(t, s, store.JobSearch{EndpointID: "listed", Before: place, Limit: 3})
	require.Equal(t, ids(2, 1, 0), rest)

	timed, _ := listed(t, s, store.JobSearch{EndpointID: "listed", From: at(1), Before: compute.Position{At: at(2).UnixMilli()}, Limit: 10})
	require.Equal(t, ids(3, 2), timed, "from a time on, before another")
	opened, _ := listed(t, s, store.JobSearch{EndpointID: "listed", Open: true, Limit: 10})
	require.Equal(t, ids(3, 2, 1), opened)

	for text, matches := range map[string]bool{"": true, "100%_BROKE!": true, "100%": true, "100__broke": false, "é": true, "x": false, "!": true} {
		found := read(t, s, func(tx store.Tx) ([]store.FoundJob, error) {
			return tx.ListJobs(store.JobSearch{EndpointID: "listed", Open: true, Before: compute.Position{At: at(1).UnixMilli(), Seq: 1 << 62}, From: at(1), Error: text, Limit: 10})
		})
		require.Equal(t, timedJobID(2), found[len(found)-1].ID)
		require.Equal(t, matches, found[len(found)-1].Matches, "%q", text)
		require.Len(t, []rune(found[len(found)-1].Error), store.ErrorShown)
	}
}

// An error is cut at any character, also at one that the store keeps as several.
func cutErrorsListed(t *testing.T, open Open) {
	s, _ := begin(t, open)
	for n := range 6 {
		j := job(timedJobID(n))
		j.EndpointID, j.Status, j.CreatedAt = "cut", compute.JobFailed, start
		j.EndedAt, j.Error = start, strings.Repeat("e", store.ErrorShown-n)+"\x00 and more"
		insertJobs(t, s, j)
	}

	found := read(t, s, func(tx store.Tx) ([]store.FoundJob, error) {
		return tx.ListJobs(store.JobSearch{EndpointID: "cut", Limit: 10})
	})
	require.Len(t, found, 6)
	for _, one := range found {
		require.True(t, strings.HasPrefix(one.Error, strings.Repeat("e", store.ErrorShown-5)), one.Error)
		require.LessOrEqual(t, len(one.Error), store.ErrorShown)
	}
}

func inputSizes(t *testing.T, open Open) {
	s, _ := begin(t, open)
	for id, size := range map[compute.JobID]int{"none": 0, "short": 7, "long": compute.PieceSize + 1} {
		var input json.RawMessage
		if size > 0 {
			input = json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
		}
		write(t, s, func(tx store.Tx) error { return tx.InsertJob(job(id), input) })
		require.Equal(t, size, read(t, s, func(tx store.Tx) (int, error) { return tx.InputSize(id) }), id)
	}
	require.Zero(t, read(t, s, func(tx store.Tx) (int, error) { return tx.InputSize("nobody") }))
}
