package queue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestRecent_JobsWithLongTextsAreNotKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", recentOutput)
	r := newRecent()
	r.keep(compute.Job{ID: "short", Output: []byte(`1`), Error: "it broke", Webhook: "http://example.com"})
	for id, j := range map[compute.JobID]compute.Job{
		"output": {Output: []byte(long + "x")}, "error": {Error: long + "x"}, "webhook": {Webhook: long + "x"}, "together": {Error: long, Webhook: "x"},
	} {
		j.ID = id
		r.keep(j)
		_, kept := r.find(id)
		require.False(t, kept, id)
	}
	_, kept := r.find("short")
	require.True(t, kept)
}

func TestRecent_KeepsNothingElseOfTheRequestThatAResultCameIn(t *testing.T) {
	t.Parallel()
	body := []byte(`{"output":1,"logs":"long"}`)
	r := newRecent()
	r.keep(compute.Job{ID: "a", Output: body[10:11]})
	body[10] = '2'
	kept, _ := r.find("a")
	require.Equal(t, "1", string(kept.Output))
}

func TestForget_KeepsNothingOfARequestForNoJob(t *testing.T) {
	t.Parallel()
	q := &Queue{memory: memory{recent: newRecent()}}
	q.forget(compute.JobID(strings.Repeat("x", 1_000_000)))
	require.Empty(t, q.recent.jobs)
	q.forget("00000000-0000-7000-8000-000000000001")
	require.Len(t, q.recent.jobs, 1)
}
