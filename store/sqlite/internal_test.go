package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

// pragma asks one of the store's connections.
func pragma(t *testing.T, c *sqldb.Conn, name string) (value string) {
	t.Helper()
	rows, err := c.Query("PRAGMA " + name)
	require.NoError(t, err)
	require.True(t, rows.Next())
	value = fmt.Sprint(rows.Row()[0])
	require.NoError(t, rows.Close())
	return value
}

func TestOpen_EveryConnectionHasEveryPragma(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.Equal(t, "2", pragma(t, d.engine.conn, "secure_delete"))

	check := func(c *sqldb.Conn, readOnly string) {
		for name, want := range map[string]string{
			"busy_timeout": "5000", "journal_mode": "wal", "synchronous": "2", "auto_vacuum": "2", "foreign_keys": "1", "temp_store": "2", "query_only": readOnly,
		} {
			assert.Equal(t, want, pragma(t, c, name), name)
		}
	}

	check(d.engine.conn, "0")
	for range readers { // all of them: none is given back meanwhile
		c, err := d.reader(t.Context())
		require.NoError(t, err)
		check(c, "1")
		defer func() { d.readers <- c }()
	}
}

func TestOpenUnsynced_DoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	d, err := OpenUnsynced(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	require.Equal(t, "0", pragma(t, d.engine.conn, "synchronous"))
	require.NoError(t, d.Close())
}

func TestOpen_ReadersComeAsTheyAreNeeded(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })

	read := func(inside func()) {
		require.NoError(t, d.Read(t.Context(), func(store.Tx) error {
			inside()
			return nil
		}))
	}

	nothing := func() {}
	require.Len(t, d.pools, 1, "the writer alone")
	read(nothing)
	read(nothing)
	require.Len(t, d.pools, 2, "one after the other need one")

	read(func() { read(nothing) })
	require.Len(t, d.pools, 3, "at once they need two")
}

func BenchmarkInsertJob64(b *testing.B) {
	const callers = 64
	input := json.RawMessage(fmt.Sprintf("%q", make([]byte, 250))) // \x00 four bytes each: 1 KB
	for _, c := range []struct {
		name  string
		limit int
	}{{"group commit", groupcommit.Most}, {"one transaction per call", 1}} {
		b.Run(c.name, func(b *testing.B) {
			d, err := open(b.Context(), filepath.Join(b.TempDir(), "berth.db"), compute.SystemClock{}, full, migrations(), func(o *groupcommit.Options) { o.Most = c.limit })
			require.NoError(b, err)
			ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
			b.ResetTimer()
			left := make(chan struct{}, b.N)
			for range b.N {
				left <- struct{}{}
			}
			close(left)

			errs := make(chan error, callers)
			for range callers {
				go func() {
					var err error
					for range left {
						j := compute.Job{ID: ids.Job(false), EndpointID: "e", Status: compute.JobInQueue}
						err = d.Write(context.Background(), func(tx store.Tx) error {
							j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now()
							return tx.InsertJob(j, input)
						})
						if err != nil {
							break
						}
					}

					errs <- err
				}()
			}

			for range callers {
				require.NoError(b, <-errs)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "inserts/s")
			b.StopTimer()
			require.NoError(b, d.Close())
		})
	}
}
