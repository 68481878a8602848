package queue

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestALineWhoseJobsEndWhereTheyWaitDoesNotGrow(t *testing.T) {
	t.Parallel()
	var f fifo
	var all []*waiting
	for i := range 200_000 { // 5,000 wait at any time, and the oldest ends
		w := &waiting{id: compute.JobID(fmt.Sprint(i)), since: int64(i)}
		f.push(w)
		if all = append(all, w); len(all) > 5000 {
			all[0].drop()
			all = all[1:]
		}
	}
	require.Equal(t, 5000, f.live)
	require.LessOrEqual(t, len(f.all), 11_000)
	require.Equal(t, all[0].since, f.oldest())
	for i := 0; i < len(all); i += 2 { // in the middle, too
		all[i].drop()
	}
	for i := 1; i < len(all); i += 2 {
		require.Same(t, all[i], f.pop())
	}
	require.Nil(t, f.pop())
}
