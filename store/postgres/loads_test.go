//go:build unix

package postgres_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqldb"
)

// slow is a store whose jobs are loaded by one who stops in the middle of them.
type slow struct {
	*postgres.DB
	stop func()
}

type slowTx struct {
	store.Tx
	stop func()
}

func (s slow) Read(ctx context.Context, f func(store.Tx) error) error {
	return s.DB.Read(ctx, func(tx store.Tx) error { return f(slowTx{tx, s.stop}) })
}

func (tx slowTx) UnfinishedJobs(each func(compute.Job)) error {
	var once sync.Once
	return tx.Tx.UnfinishedJobs(func(j compute.Job) {
		once.Do(tx.stop)
		each(j)
	})
}

// TestLoad_TakesAsLongAsItTakes: a new owner reads all the jobs that have not ended, which takes longer than a statement may.
func TestLoad_TakesAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	const jobs = 50_000 // more than the buffers between the two hold
	url := emptied(t)
	db, err := postgres.Open(t.Context(), url, compute.SystemClock{}, postgres.StatementTimeout("2000"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Name: "e"})
	}))
	c := connected(t, url)
	_, err = c.Exec(t.Context(), `INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention, created_at, queued_at, webhook, error)
SELECT n, lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', 'e', CASE WHEN n = 1 THEN 'IN_PROGRESS' ELSE 'IN_QUEUE' END, 0, 0, CASE WHEN n = 1 THEN 'w' ELSE '' END, 1, 0, 1, 1, 1, n, n, '', ''
FROM generate_series(1, $1) n`, jobs)
	require.NoError(t, err)

	stops := 0
	s := slow{db, func() {
		stops++
		require.Eventually(t, func() bool {
			var n int
			err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
WHERE wait_event = 'ClientWrite' AND query LIKE '%FROM jobs%' AND clock_timestamp() - query_start > interval '3 s'`).Scan(&n)
			return err == nil && n > 0
		}, time.Minute, 50*time.Millisecond)
	}}
	_, err = queue.New(t.Context(), s, compute.SystemClock{}, compute.NewIDs(rand.Reader, compute.SystemClock{}), queue.DefaultSettings(), queue.Hooks{})
	require.NoError(t, err)
	require.Equal(t, 1, stops)
	n := 0
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error { return tx.UnfinishedJobs(func(compute.Job) { n++ }) }))
	require.Equal(t, jobs, n)

	errs := make(chan error, 4)
	for range cap(errs) { // on each of the connections
		go func() {
			errs <- db.Read(t.Context(), func(tx store.Tx) error { return tx.(*sqldb.Tx).Exec("SELECT pg_sleep(600)") })
		}()
	}
	for range cap(errs) {
		require.Equal(t, store.Away, store.TroubleOf(<-errs), "others end")
	}
}
