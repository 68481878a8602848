//go:build unix

package transfer_test

import (
	"context"
	"iter"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// inputs is a source of jobs with an input of a megabyte each. It looks at the memory that is in use as they pass.
type inputs struct {
	tables []transfer.Table
	jobs   int64
	most   uint64 // bytes
}

func (s *inputs) Tables() []transfer.Table { return s.tables }

func (s *inputs) Rows(_ context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if t.Name != "jobs" && t.Name != "job_inputs" {
			return
		}
		for n := range s.jobs {
			row := make([]any, len(t.Columns))
			for i, c := range t.Columns {
				switch {
				case c.Name == "seq":
					row[i] = n
				case c.Null && c.Name != "body":
				case c.Kind == transfer.Integer:
					row[i] = int64(0)
				case c.Kind == transfer.Text:
					row[i] = ""
				case c.Kind == transfer.Bytes:
					row[i] = make([]byte, 1<<20)
				}
			}
			if !yield(row, nil) {
				return
			}

			if t.Name == "job_inputs" && n%8 == 7 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				s.most = max(s.most, m.HeapAlloc)
			}
		}
	}
}

// It is not parallel: what others hold is no part of it.
func TestRun_HoldsFewRowsInMemory(t *testing.T) {
	file, err := sqlite.NewTarget(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	require.NoError(t, err)
	server, err := postgres.OpenTarget(t.Context(), schema(t))
	require.NoError(t, err)

	for _, target := range []transfer.Target{file, server} {
		from := &inputs{tables: target.Tables(), jobs: 96}
		copied, err := transfer.Run(t.Context(), from, target, nil)
		require.NoError(t, err)
		require.Less(t, from.most, uint64(24<<20), "of 96 MB")
		for _, table := range copied {
			if table.Table == "job_inputs" {
				require.EqualValues(t, 96, table.Rows)
			}
		}
	}
	closed(t, file, server)
}
