package changes_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// BenchmarkSubmitJob stores jobs without waiting for the disk, 64 at a time: in the store itself, in one whose changes nobody follows, and in one
// whose changes somebody follows.
func BenchmarkSubmitJob(b *testing.B) {
	for _, name := range []string{"unnoted", "nobody follows", "followed"} {
		b.Run(name, func(b *testing.B) {
			db, err := sqlite.OpenUnsynced(b.Context(), filepath.Join(b.TempDir(), "berth.db"), compute.SystemClock{})
			require.NoError(b, err)
			defer func() { require.NoError(b, db.Close()) }()
			require.NoError(b, db.Write(b.Context(), func(tx store.Tx) error { return tx.InsertEndpoint(endpoint) }))
			log := changes.New(compute.SystemClock{}, "here", db)
			defer func() { require.NoError(b, log.Close()) }()
			var s store.Store = db
			if name != "unnoted" {
				s = log.Store()
			}
			if name == "followed" {
				r := log.Follow("")
				defer r.Close()
				go func() {
					for b.Context().Err() == nil {
						_, more := r.Read()
						select {
						case <-more:
						case <-b.Context().Done():
						}
					}
				}()
			}

			ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
			b.SetParallelism(32) // of 2 processors
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					one := job
					one.ID, one.TTL = ids.Job(false), time.Hour
					if err := s.SubmitJob(b.Context(), &store.Submission{Job: one, Input: []byte(`{"n":1}`)}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
