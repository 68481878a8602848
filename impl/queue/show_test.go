package queue_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

func TestList_BoundsAreWholeMilliseconds(t *testing.T) {
	t.Parallel()
	b := open(t)
	at := b.clock.Now()
	j := b.someJob(1, b.endpoint, compute.JobInQueue, at)
	b.keep(j)
	for name, c := range map[string]struct {
		search queue.Search
		found  bool
	}{
		"from its time":                   {queue.Search{From: at}, true},
		"from a moment before":            {queue.Search{From: at.Add(-1)}, true},
		"from a moment after":             {queue.Search{From: at.Add(1)}, false},
		"to its time":                     {queue.Search{To: at}, false},
		"to a moment after":               {queue.Search{To: at.Add(1)}, true},
		"to a moment before":              {queue.Search{To: at.Add(-1)}, false},
		"to a moment before, on a page":   {queue.Search{To: at.Add(-1), Page: compute.Page{After: compute.Position{At: at.UnixMilli() + 1}}}, false},
		"to a moment after, on a page":    {queue.Search{To: at.Add(1), Page: compute.Page{After: compute.Position{At: at.UnixMilli() + 5}}}, true},
		"to long after, on a page before": {queue.Search{To: at.Add(time.Hour), Page: compute.Page{After: compute.Position{At: at.UnixMilli() - 1}}}, false},
	} {
		c.search.Page.Limit = 5
		jobs, next, err := b.queue.List(t.Context(), everything, c.search)
		require.NoError(t, err)
		require.Equal(t, c.found, len(jobs) == 1, name)
		require.Zero(t, next, name)
	}
}

func TestList_PageThatIsFullNamesTheNextOnlyIfThereIsOne(t *testing.T) {
	t.Parallel()
	b := open(t)
	for n := range 4 {
		b.keep(b.someJob(n, b.endpoint, compute.JobInQueue, b.clock.Now().Add(time.Duration(n)*time.Second)))
	}
	for limit, pages := range map[int]int{1: 4, 2: 2, 3: 2, 4: 1, 5: 1} {
		ids, got := b.found(everything, queue.Search{Page: compute.Page{Limit: limit}})
		require.Len(t, ids, 4)
		require.Equal(t, pages, got, limit)
	}
}

// The time by which things fall due may be behind the time of day, by which people go.
func TestShow_HasTimesOfDay(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.clock.Running().Adjust(time.Hour)
	id := b.run(queue.Submission{})
	submitted := b.clock.Wall()
	b.clock.Advance(time.Second)
	b.take("w", 1)
	taken := b.clock.Wall()
	b.clock.Advance(time.Second)
	b.finish("w", id, queue.Report{Error: "it broke"})
	ended := b.clock.Wall()

	jobs, _, err := b.queue.List(t.Context(), everything, queue.Search{Page: compute.Page{Limit: 5}})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	shown, err := b.queue.Show(t.Context(), everything, id)
	require.NoError(t, err)
	for _, j := range []compute.Job{jobs[0], shown.Job} {
		require.Equal(t, []time.Time{submitted, submitted, taken, ended, ended.Add(30 * time.Minute)}, []time.Time{j.CreatedAt, j.QueuedAt, j.TakenAt, j.EndedAt, j.ExpiresAt})
	}

	next := b.run(queue.Submission{})
	shown, err = b.queue.Show(t.Context(), everything, next)
	require.NoError(t, err)
	require.True(t, shown.TakenAt.IsZero())
	require.True(t, shown.EndedAt.IsZero())
}

func TestShow_HasSoMuchOfLongTexts(t *testing.T) {
	t.Parallel()
	b := open(t)
	const shownOf = 65_536
	for size, want := range map[int]int{shownOf - 1: shownOf - 1, shownOf: shownOf, shownOf + 1: shownOf, 300_000: shownOf} {
		text := `"` + strings.Repeat("x", size-2) + `"`
		id := b.run(queue.Submission{Input: json.RawMessage(text)})
		b.take("w", 1)
		b.finish("w", id, queue.Report{Output: json.RawMessage(text)})
		shown, err := b.queue.Show(t.Context(), everything, id)
		require.NoError(t, err)
		for _, one := range []queue.Excerpt{shown.Input, shown.Output} {
			require.Equal(t, size, one.Size)
			require.True(t, text[:want] == string(one.Text))
		}
		require.Nil(t, shown.Job.Output)
	}
}

func TestShow_HidesWhatIsOver(t *testing.T) {
	t.Parallel()
	b := open(t)
	id, other := b.failedJob(), b.run(queue.Submission{})
	_, err := b.queue.Show(t.Context(), everything, id)
	require.NoError(t, err)
	b.clock.Advance(30 * time.Minute)
	unknown := func(id compute.JobID) {
		t.Helper()
		_, err := b.queue.Show(t.Context(), everything, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		require.ErrorContains(t, err, `job "`+string(id)+`" does not exist`)
	}
	unknown(id)
	unknown("nosuchjob")
	ids, _ := b.found(everything, queue.Search{Page: compute.Page{Limit: 5}})
	require.Equal(t, []compute.JobID{other}, ids)

	_, err = b.queue.Show(t.Context(), everything, other)
	require.NoError(t, err)
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		e, err := tx.Endpoint(b.endpoint)
		require.NoError(t, err)
		e.DeletedAt = tx.Now()
		return tx.UpdateEndpoint(e)
	}))
	unknown(other)
	_, _, err = b.queue.List(t.Context(), everything, queue.Search{Endpoint: b.endpoint, Page: compute.Page{Limit: 5}})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.ErrorContains(t, err, "endpoint")
}
