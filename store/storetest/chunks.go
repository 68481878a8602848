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

	bytes := func() int { return read(t, s, func(tx store.Tx) (int, error) { return tx.ChunkBytes("j") }) }
	require.False(t, has())
	require.Zero(t, bytes())
	require.Empty(t, drain(t, s, 100))

	first := compute.Chunk{Output: json.RawMessage(`"a"`), Metrics: json.RawMessage(`{"n":1}`)}
	add(first)
	add(chunk("22"))
	add(chunk("33"))
	require.True(t, has())
	require.Equal(t, 14, bytes(), "with metrics")
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
	s, clock := begin(t, open)
	pending := func(after int64) (all []compute.Webhook) {
		read(t, s, func(tx store.Tx) (struct{}, error) {
			return struct{}{}, tx.PendingWebhooks(after, func(w compute.Webhook) { all = append(all, w) })
		})
		return all
	}

	log := func() []compute.Webhook {
		return read(t, s, func(tx store.Tx) ([]compute.Webhook, error) { return tx.ListWebhooks(9) })
	}
	remove := func(before time.Time, limit int) (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteWebhooks(before, limit)
			return err
		})
		return n
	}

	insert := func(w compute.Webhook) compute.Webhook {
		write(t, s, func(tx store.Tx) error { return tx.InsertWebhook(w) })
		all := pending(0)
		w.Seq, w.Size = all[len(all)-1].Seq, len(w.Body)
		return w
	}

	without := func(w compute.Webhook) compute.Webhook {
		w.Body = nil
		return w
	}
	require.Empty(t, pending(0))

	a := insert(compute.Webhook{JobID: "a", URL: "http://one/", Body: json.RawMessage(`{"id":"a"}`), NextAt: start.Add(time.Second), CreatedAt: start})
	b := insert(compute.Webhook{JobID: "b", URL: "http://two/", Body: json.RawMessage(`{"id":"bb"}`), NextAt: start, CreatedAt: start})
	require.Equal(t, []compute.Webhook{without(a), without(b)}, pending(0))
	require.Equal(t, []compute.Webhook{without(b)}, pending(a.Seq))
	require.Empty(t, pending(b.Seq))
	require.Equal(t, b, read(t, s, func(tx store.Tx) (compute.Webhook, error) { return tx.Webhook(b.Seq) }))

	_, err := tryRead(t, s, func(tx store.Tx) (compute.Webhook, error) { return tx.Webhook(b.Seq + 1) })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	b.Tries, b.NextAt, b.Status, b.Error = 1, start.Add(10*time.Second), 500, "no"
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(b) })
	require.Equal(t, b, read(t, s, func(tx store.Tx) (compute.Webhook, error) { return tx.Webhook(b.Seq) }))

	b.Tries, b.NextAt, b.Status, b.Error = 2, time.Time{}, 200, ""
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(b) })
	require.Equal(t, []compute.Webhook{without(a)}, pending(0))
	b.Body, b.Size = nil, 0
	require.Equal(t, []compute.Webhook{b, without(a)}, log(), "its body is forgotten")

	stale := a
	stale.JobID, stale.NextAt, stale.Status = "of before a reset", time.Time{}, 200
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(stale) })
	require.Equal(t, []compute.Webhook{b, without(a)}, log(), "a number may be that of another one by now")

	require.Zero(t, remove(start, 9), "not before the time")
	require.Equal(t, 1, remove(start.Add(time.Millisecond), 9))
	require.Equal(t, []compute.Webhook{without(a)}, log(), "what is to be delivered stays")
	a.NextAt = time.Time{}
	write(t, s, func(tx store.Tx) error { return tx.SetWebhook(a) })
	require.Equal(t, 1, remove(start.Add(time.Hour), 9))
	require.Empty(t, log())

	clock.Advance(time.Millisecond)
	c := compute.Webhook{URL: "http://one/", NextAt: clock.Now(), CreatedAt: clock.Now()}
	require.Greater(t, insert(c).Seq, b.Seq, "no number comes again")
	for range 3 {
		write(t, s, func(tx store.Tx) error { return tx.InsertWebhook(compute.Webhook{CreatedAt: clock.Now()}) })
	}
	require.Equal(t, 2, remove(clock.Now().Add(time.Hour), 2))
	require.Len(t, log(), 2)
}

// webhooksOfAWrongClock: the time of day was wrong for a while, and deliveries were stamped with it.
func webhooksOfAWrongClock(t *testing.T, open Open) {
	s, clock := begin(t, open)
	for _, early := range []time.Duration{0, 24 * time.Hour, 0} {
		write(t, s, func(tx store.Tx) error {
			return tx.InsertWebhook(compute.Webhook{CreatedAt: clock.Now().Add(early)})
		})
		clock.Advance(time.Minute)
	}

	remove := func() (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteWebhooks(clock.Now(), 9)
			return err
		})
		return n
	}
	require.Equal(t, 2, remove(), "those after it, too")
	clock.Advance(24 * time.Hour)
	require.Equal(t, 1, remove(), "itself when its time has come")
}
