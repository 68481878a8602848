package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/transfer"
)

var errNo = errors.New("no")

// memory is a database in memory. It fails and spoils what it is told to.
type memory struct {
	tables    []transfer.Table
	rows      map[string][][]any
	ends      error // of the rows that it gives
	refuses   error // of a commit
	spoils    func(row []any) []any
	filled    []string // tables, in their order
	committed bool
}

func (m *memory) Tables() []transfer.Table { return m.tables }

func (m *memory) Rows(_ context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range m.rows[t.Name] {
			if !yield(row, nil) {
				return
			}
		}
		if m.ends != nil {
			yield(nil, m.ends)
		}
	}
}

func (m *memory) Fill(_ context.Context, t transfer.Table, rows iter.Seq2[[]any, error]) error {
	m.filled = append(m.filled, t.Name)
	for row, err := range rows {
		if err != nil {
			return err
		}
		row = slices.Clone(row)
		if m.spoils != nil {
			if row = m.spoils(row); row == nil {
				continue
			}
		}
		m.rows[t.Name] = append([][]any{row}, m.rows[t.Name]...) // in an order of its own
	}
	return nil
}

func (m *memory) Commit(context.Context) error {
	m.committed = m.refuses == nil
	return m.refuses
}

// values is a table with a column of each kind.
var values = transfer.Table{Name: "values", Columns: []transfer.Column{
	{Name: "b", Kind: transfer.Bytes, Null: true}, {Name: "i", Kind: transfer.Integer, Null: true}, {Name: "r", Kind: transfer.Real, Null: true}, {Name: "t", Kind: transfer.Text, Null: true},
}}

// source has these rows of values; target is one that is empty.
func source(rows ...[]any) *memory {
	return &memory{tables: []transfer.Table{values}, rows: map[string][][]any{"values": rows}}
}

func target() *memory { return source() }

func run(t *testing.T, from, to *memory) ([]transfer.Copied, error) {
	t.Helper()
	return transfer.Run(t.Context(), from, to, nil)
}

func TestRun_ChecksumIsOfTheRowsInWhateverOrder(t *testing.T) {
	t.Parallel()
	one, other := []any{[]byte("a"), int64(-1), 1.5, "x"}, []any{nil, nil, nil, nil}
	to := target()
	copied, err := run(t, source(one, other, one), to)
	require.NoError(t, err)
	require.True(t, to.committed)
	require.Len(t, copied, 1)
	require.Equal(t, "values", copied[0].Table)
	require.EqualValues(t, 3, copied[0].Rows)
	require.Len(t, copied[0].Checksum, 64)

	again, err := run(t, source(other, one, one), target())
	require.NoError(t, err)
	require.Equal(t, copied, again)
	again, err = run(t, source(other, one), target())
	require.NoError(t, err)
	require.NotEqual(t, copied[0].Checksum, again[0].Checksum)
	none, err := run(t, source(), target())
	require.NoError(t, err)
	require.Zero(t, none[0].Rows)
	require.Equal(t, fmt.Sprintf("%064d", 0), none[0].Checksum)
}

func TestRun_NoTwoRowsLookTheSame(t *testing.T) {
	t.Parallel()
	seen := map[string][]any{}
	for _, row := range [][]any{
		{nil, nil, nil, nil}, {[]byte{}, nil, nil, nil}, {nil, int64(0), nil, nil}, {nil, nil, 0.0, nil}, {nil, nil, nil, ""},
		{[]byte("a"), nil, nil, nil}, {nil, nil, nil, "a"}, {[]byte("ab"), nil, nil, "c"}, {[]byte("a"), nil, nil, "bc"}, {nil, int64(1), nil, nil}, {nil, int64(-1), nil, nil},
		{nil, int64(math.MaxInt64), nil, nil}, {nil, int64(math.MinInt64), nil, nil}, {nil, nil, 1.0, nil}, {nil, nil, math.Inf(1), nil}, {nil, int64(1), 1.0, nil},
		{[]byte("a\x00"), nil, nil, nil}, {[]byte("\x00a"), nil, nil, nil},
	} {
		copied, err := run(t, source(row), target())
		require.NoError(t, err)
		require.Nil(t, seen[copied[0].Checksum], "%v", row)
		seen[copied[0].Checksum] = row
	}

	zero, err := run(t, source([]any{nil, nil, 0.0, nil}), target())
	require.NoError(t, err)
	negative, err := run(t, source([]any{nil, nil, math.Copysign(0, -1), nil}), target())
	require.NoError(t, err)
	require.Equal(t, zero, negative, "not every engine has a negative zero")
}

func TestRun_RefusesAValueOfAnotherKindThanItsColumn(t *testing.T) {
	t.Parallel()
	for says, row := range map[string][]any{
		"table values: a row has 3 values, not 4":         {nil, nil, nil},
		"table values: column b: it is text, not bytes":   {"a", nil, nil, nil},
		"table values: column i: it is real, not integer": {nil, 1.0, nil, nil},
		"table values: column r: it is integer, not real": {nil, nil, int64(1), nil},
		"table values: column t: it is bytes, not text":   {nil, nil, nil, []byte("a")},
		"table values: column t: it is a int":             {nil, nil, nil, 1},
		"table values: column i: it is a bool":            {nil, true, nil, nil},
	} {
		to := target()
		_, err := run(t, source([]any{nil, nil, nil, nil}, row), to)
		require.EqualError(t, err, says)
		require.False(t, to.committed)
	}
}

func TestRun_CommitsNothingThatDidNotComeOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(from, to *memory)
		says   string
	}{
		"the source fails":               {func(from, _ *memory) { from.ends = errNo }, "table values: no"},
		"the target cannot be read back": {func(_, to *memory) { to.ends = errNo }, "table values: read it back: no"},
		"a row is missing": {func(_, to *memory) {
			to.spoils = func(row []any) []any {
				if row[1] == int64(2) {
					return nil
				}
				return row
			}
		}, "table values: the target has 1 rows of checksum "},
		"a value is another one": {func(_, to *memory) {
			to.spoils = func(row []any) []any { row[1] = int64(7); return row }
		}, "table values: the target has 2 rows of checksum "},
		"it has another table": {func(_, to *memory) { to.tables = nil }, "source and target have other tables: the source has a table values"},
	} {
		from, to := source([]any{nil, int64(1), nil, nil}, []any{nil, int64(2), nil, nil}), target()
		c.change(from, to)
		copied, err := run(t, from, to)
		require.ErrorContains(t, err, c.says, name)
		require.Empty(t, copied, name)
		require.False(t, to.committed, name)
	}

	to := target()
	to.refuses = errNo
	_, err := run(t, source(), to)
	require.ErrorIs(t, err, errNo)
}

func TestRun_FillsWhatOthersHangOnFirst(t *testing.T) {
	t.Parallel()
	tables := []transfer.Table{
		table("a", nil, []string{"c", "d"}), table("b", nil, nil), table("c", nil, []string{"d", "c"}), table("d", nil, nil),
		table("x", nil, []string{"y"}), table("y", nil, []string{"x"}), // a circle
	}
	to := &memory{tables: tables, rows: map[string][][]any{}}
	copied, err := run(t, &memory{tables: tables, rows: map[string][][]any{}}, to)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "d", "c", "a", "x", "y"}, to.filled)
	require.Len(t, copied, 6)
	require.Equal(t, "a", tables[0].Name, "those of the source stay as they are")
}

func TestRun_TellsHowFarItIsEveryThousandRows(t *testing.T) {
	t.Parallel()
	var rows [][]any
	for n := range 2500 {
		rows = append(rows, []any{nil, int64(n), nil, nil})
	}
	var told []string
	copied, err := transfer.Run(t.Context(), source(rows...), target(), func(table string, rows int64) { told = append(told, fmt.Sprint(table, " ", rows)) })
	require.NoError(t, err)
	require.EqualValues(t, 2500, copied[0].Rows)
	require.Equal(t, []string{"values 1000", "values 2000"}, told)
}
