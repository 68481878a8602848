package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestShrink_FollowsTheDeletionOfJobs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	const jobs = 40
	due := time.UnixMilli(1)
	for i := range jobs {
		j := compute.Job{ID: compute.JobID(fmt.Sprint(i)), Status: compute.JobCompleted, ExpiresAt: due}
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertJob(j, bytes.Repeat([]byte("1"), 1_000_000)) }))
	}

	pages := func() (n int64) {
		require.NoError(t, other.QueryRow("PRAGMA page_count").Scan(&n))
		return n
	}

	full := pages()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		for i := range jobs - 1 {
			if _, err := tx.DeleteJob(compute.JobID(fmt.Sprint(i)), due); err != nil {
				return err
			}
		}
		return nil
	}))

	require.Eventually(t, func() bool {
		stat, err := os.Stat(path)
		return err == nil && stat.Size() < 10_000_000 && pages() < full/10
	}, time.Minute, 10*time.Millisecond)
}
