package queue_test

import (
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// all may read every job of the user.
var everything = queue.Readable{User: user, May: func(compute.EndpointID) bool { return true }}

// found gives the ids of the jobs of all pages, and how many pages there were.
func (b *bench) found(who queue.Readable, s queue.Search) (ids []compute.JobID, pages int) {
	for {
		jobs, next, err := b.queue.List(b.Context(), who, s)
		require.NoError(b, err)
		require.LessOrEqual(b, len(jobs), s.Page.Limit)
		pages++
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		if next == (compute.Position{}) {
			return ids, pages
		}
		s.Page.After = next
	}
}

// keep has jobs in the store, of which the queue's memory need not know.
func (b *bench) keep(jobs ...compute.Job) {
	require.NoError(b, b.db.Write(b.Context(), func(tx store.Tx) error {
		for _, j := range jobs {
			if err := tx.InsertJob(j, json.RawMessage(`{}`)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// someJob is the nth job.
func (b *bench) someJob(n int, e compute.EndpointID, status compute.JobStatus, at time.Time) compute.Job {
	j := compute.Job{
		ID: compute.JobID(fmt.Sprintf("%08x-%04x-7000-8000-000000000000", n>>16, n&0xffff)), EndpointID: e, Status: status, CreatedAt: at, QueuedAt: at,
		ExpiresAt: at.Add(24 * time.Hour),
	}
	if status.Ended() {
		j.EndedAt = at
	}
	if status == compute.JobFailed || status == compute.JobTimedOut {
		j.Error = fmt.Sprintf("Error %d", n%7)
	}
	return j
}

// TestList_FindsWhatAWalkOverAllJobsFinds with any filters, page by page.
func TestList_FindsWhatAWalkOverAllJobsFinds(t *testing.T) {
	t.Parallel()
	b := open(t)
	r := mathrand.New(mathrand.NewPCG(1, 2))
	endpoints := []compute.EndpointID{b.endpoint, "endpointtwo000", "endpointthree0"}
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		for _, e := range endpoints[1:] {
			if err := tx.InsertEndpoint(compute.Endpoint{ID: e, UserID: user}); err != nil {
				return err
			}
		}
		return tx.InsertEndpoint(compute.Endpoint{ID: "somebodyelses0", UserID: "other"})
	}))

	statuses := []compute.JobStatus{"", compute.JobInQueue, compute.JobInProgress, compute.JobCompleted, compute.JobFailed, compute.JobCancelled, compute.JobTimedOut}
	var all []compute.Job
	for n := range 400 {
		at := b.clock.Now().Add(time.Duration(n/4) * time.Second)
		all = append(all, b.someJob(n, endpoints[r.IntN(3)], statuses[1+r.IntN(6)], at))
	}
	b.keep(all...)
	b.keep(b.someJob(999, "somebodyelses0", compute.JobFailed, b.clock.Now()))
	gone := b.someJob(998, b.endpoint, compute.JobFailed, b.clock.Now())
	gone.ExpiresAt = b.clock.Now()
	b.keep(gone)

	for range 200 {
		s := queue.Search{Status: statuses[r.IntN(7)], Page: compute.Page{Limit: 1 + r.IntN(60)}}
		if r.IntN(2) == 0 {
			s.Endpoint = endpoints[r.IntN(3)]
		}
		if r.IntN(2) == 0 {
			s.From = b.clock.Now().Add(time.Duration(r.IntN(100)) * time.Second)
		}
		if r.IntN(2) == 0 {
			s.To = b.clock.Now().Add(time.Duration(r.IntN(100))*time.Second + time.Microsecond)
		}
		if r.IntN(3) == 0 {
			s.Error = fmt.Sprintf("error %d", r.IntN(8))
		}
		who := everything
		if r.IntN(3) == 0 {
			who.May = func(e compute.EndpointID) bool { return s.Endpoint != "" || e == endpoints[1] }
		}

		var want []compute.JobID
		for _, j := range slices.Backward(all) {
			if (s.Endpoint == "" || j.EndpointID == s.Endpoint) && (s.Status == "" || j.Status == s.Status) && !j.CreatedAt.Before(s.From) && who.May(j.EndpointID) &&
				(s.To.IsZero() || j.CreatedAt.Before(s.To)) && strings.Contains(strings.ToLower(j.Error), s.Error) {
				want = append(want, j.ID)
			}
		}
		got, _ := b.found(who, s)
		require.Equal(t, want, got, "%+v", s)
	}
}

func TestList_LooksAtSoManyJobsForAPage(t *testing.T) {
	t.Parallel()
	b := open(t)
	jobs := []compute.Job{b.someJob(0, b.endpoint, compute.JobCancelled, b.clock.Now())}
	for n := range 10_500 {
		jobs = append(jobs, b.someJob(n+1, b.endpoint, compute.JobCompleted, b.clock.Now()))
	}
	b.keep(jobs...)

	first, next, err := b.queue.List(t.Context(), everything, queue.Search{Status: compute.JobCancelled, Page: compute.Page{Limit: 5}})
	require.NoError(t, err)
	require.Empty(t, first)
	require.NotZero(t, next, "more may follow")
	ids, pages := b.found(everything, queue.Search{Status: compute.JobCancelled, Page: compute.Page{Limit: 5}})
	require.Equal(t, []compute.JobID{jobs[0].ID}, ids)
	require.Equal(t, 2, pages)
	_, pages = b.found(everything, queue.Search{Status: compute.JobFailed, Page: compute.Page{Limit: 5}})
	require.Equal(t, 1, pages, "those that failed are found without the others")
}

func TestShow_HasTheBeginningsOfLongTexts(t *testing.T) {
	t.Parallel()
	b := open(t)
	long := `"` + strings.Repeat("x", 200_000) + `"`
	id := b.run(queue.Submission{Input: json.RawMessage(long)})
	shown, err := b.queue.Show(t.Context(), everything, id)
	require.NoError(t, err)
	require.Equal(t, queue.Excerpt{Text: []byte(long[:queue.ExcerptSize]), Size: len(long)}, shown.Input)
	require.Zero(t, shown.Output)

	b.take("w", 1)
	require.NoError(t, b.queue.Progress(t.Context(), user, b.endpoint, "w", id, json.RawMessage(long)))
	for range 2 {
		shown, err = b.queue.Show(t.Context(), everything, id)
		require.NoError(t, err)
		require.Equal(t, queue.Excerpt{Text: []byte(long[:queue.ExcerptSize]), Size: len(long)}, shown.Output)
		require.Nil(t, shown.Job.Output)
		b.report(id, queue.Report{Output: json.RawMessage(long)})
	}

	short := b.run(queue.Submission{Input: json.RawMessage(`{"a": 1}`)})
	shown, err = b.queue.Show(t.Context(), everything, short)
	require.NoError(t, err)
	require.Equal(t, queue.Excerpt{Text: []byte(`{"a": 1}`), Size: 8}, shown.Input)

	for _, who := range []queue.Readable{{User: "other", May: everything.May}, {User: user, May: func(compute.EndpointID) bool { return false }}} {
		_, err = b.queue.Show(t.Context(), who, short)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		_, _, err = b.queue.List(t.Context(), who, queue.Search{Endpoint: b.endpoint, Page: compute.Page{Limit: 1}})
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
	}
}
