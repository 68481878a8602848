package loop

import (
	"container/heap"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestCourses_HaveThatFirstWhichComesFirst(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return time.UnixMilli(1_700_000_000_000).Add(d) }
	plays := map[compute.JobID]*play{}
	var due courses
	for _, p := range []*play{
		{job: "e", turn: 5, at: at(3)}, {job: "b", turn: 4, at: at(1)}, {job: "c", turn: 1, at: at(2)}, {job: "a", turn: 2, at: at(1)},
		{job: "d", turn: 3, at: at(2)}, {job: "gone", turn: 0, at: at(2)}, {job: "moved", turn: 6, at: at(9)},
	} {
		plays[p.job] = p
		heap.Push(&due, p)
	}
	heap.Remove(&due, plays["gone"].place)
	plays["moved"].at = at(0)
	heap.Fix(&due, plays["moved"].place)

	var order []compute.JobID
	for len(due) > 0 {
		require.Zero(t, due[0].place)
		order = append(order, heap.Pop(&due).(*play).job)
	}
	require.Equal(t, []compute.JobID{"moved", "a", "b", "c", "d", "e"}, order, "at one time in the order in which they were taken")
}
