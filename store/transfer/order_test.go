package transfer_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/transfer"
)

// noting is a database of two tables in memory that notes when it is read.
type noting struct {
	name string
	rows map[string][][]any
	did  *[]string
}

func (n noting) Tables() []transfer.Table {
	columns := []transfer.Column{{Name: "id", Kind: transfer.Integer}}
	return []transfer.Table{{Name: "keys", Columns: columns, Key: []string{"id"}}, {Name: "pods", Columns: columns, Key: []string{"id"}}}
}

func (n noting) Rows(_ context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		*n.did = append(*n.did, n.name+" "+t.Name)
		for _, row := range n.rows[t.Name] {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (n noting) Fill(_ context.Context, t transfer.Table, rows iter.Seq2[[]any, error]) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		n.rows[t.Name] = append(n.rows[t.Name], slices.Clone(row))
	}
	return nil
}

func (n noting) Commit(context.Context) error { return nil }

// TestRun_ReadsTheSourceWithoutAPause: PostgreSQL ends the transaction of who is silent for some seconds, and to read a table back takes longer.
func TestRun_ReadsTheSourceWithoutAPause(t *testing.T) {
	t.Parallel()
	var did []string
	from := noting{"source", map[string][][]any{"keys": {{int64(1)}}, "pods": {{int64(2)}}}, &did}
	to := noting{"target", map[string][][]any{}, &did}
	_, err := transfer.Run(t.Context(), from, to, nil)
	require.NoError(t, err)
	require.Equal(t, from.rows, to.rows)
	require.Equal(t, []string{"source keys", "source pods", "target keys", "target pods"}, did)
}
