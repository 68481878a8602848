package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// drained is what a drain gave.
type drained struct {
	chunks []compute.Chunk
	more   bool
}

func drain(t *testing.T, s store.Store, limit int) (d drained) {
	write(t, s, func(tx store.Tx) (err error) {
		d.chunks, d.more, err = tx.DrainChunks("j", limit)
		return err
	})
	return d
}

func chunks(t *testing.T, open Open) {
	s, _ := begin(t, open)
	has := func() bool {
		return read(t, s, func(tx store.Tx) (bool, error) { return tx.HasChunks("j") })
	}
	chunk := func(n string) compute.Chunk { return compute.Chunk{Output: json.RawMessage(n)} }
	add := func(c compute.Chunk) {
		require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.AppendChunk("j", "w", c) }))
	}
	insertJobs(t, s, job("j"), job("other"))
	move(t, s, "j", take("w", start))
	require.False(t, has())
	require.Empty(t, drain(t, s, 100))
	first := compute.Chunk{Output: json.RawMessage(`"a"`), Metrics: json.RawMessage(`{"n":1}`)}
	add(first)
	add(chunk("22"))
	add(chunk("33"))
	require.True(t, has())
	require.Equal(t, drained{[]compute.Chunk{first}, true}, drain(t, s, 1), "one at least")
	add(chunk("44"))
	require.Equal(t, drained{[]compute.Chunk{chunk("22"), chunk("33")}, true}, drain(t, s, 4))
	require.Equal(t, drained{[]compute.Chunk{chunk("44")}, false}, drain(t, s, 4))
	require.False(t, has())

	count := func() (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.CountFinalRead("j")
			return err
		})
		return n
	}
	add(chunk("1"))
	move(t, s, "j", to(compute.JobFailed))
	require.Equal(t, 1, count())
	require.Equal(t, 2, count())
	move(t, s, "j", to(compute.JobFailed))
	require.Equal(t, 3, count(), "a new time to live is no new end")
	move(t, s, "j", to(compute.JobInQueue))
	require.False(t, has(), "a retry begins anew")
	move(t, s, "j", take("w", start))
	move(t, s, "j", to(compute.JobFailed))
	require.Equal(t, 1, count())
}

func webhooks(t *testing.T, open Open) {
	s, _ := begin(t, open)
	next := func() time.Time {
		return read(t, s, func(tx store.Tx) (time.Time, error) { return tx.NextWebhook() })
	}
	due := func(at time.Time) []compute.Webhook {
		return read(t, s, func(tx store.Tx) ([]compute.Webhook, error) { return tx.DueWebhooks(at, 9) })
	}
	log := func() []compute.Webhook {
		return read(t, s, func(tx store.Tx) ([]compute.Webhook, error) { return tx.ListWebhooks(9) })
	}
	require.Zero(t, next())
	a := compute.Webhook{JobID: "a", URL: "http://one/", Body: json.RawMessage(`{"id":"a"}`), NextAt: start.Add(time.Second), CreatedAt: start}
	b := compute.Webhook{JobID: "b", URL: "http://two/", Body: json.RawMessage(`{"id":"b"}`), NextAt: start, CreatedAt: start}
	write(t, s, func(tx store.Tx) error { return tx.InsertWebhook(a) })
	write(t, s, func(tx store.Tx) error { return tx.InsertWebhook(b) })
	require.Equal(t, start, next())
	got := due(start)
	require.Len(t, got, 1)
	b.Seq = got[0].Seq
	require.Equal(t, b, got[0])

	b.Tries, b.NextAt, b.Status, b.Error = 1, start.Add(10*time.Second), 500, "no"
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(b) })
	require.Len(t, due(start.Add(time.Minute)), 2)
	require.Equal(t, b, due(start.Add(time.Minute))[1], "the longest due first")

	b.Tries, b.NextAt, b.Status, b.Error = 2, time.Time{}, 200, ""
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(b) })
	require.Len(t, due(start.Add(time.Minute)), 1)
	b.Body = nil
	require.Equal(t, b, log()[0])

	write(t, s, func(tx store.Tx) error { return tx.DeleteWebhooks(start.Add(time.Hour)) })
	require.Len(t, log(), 1, "what is to be delivered stays")
	require.Equal(t, compute.JobID("a"), log()[0].JobID)
}
