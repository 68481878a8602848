package postgres

import (
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

// answered are the rows of an answer, as they come.
type answered struct {
	rows   [][]any
	tag    string
	err    error // of a row
	closed bool
}

func (a *answered) Close() { a.closed = true }

func (a *answered) Err() error { return nil }

func (a *answered) CommandTag() pgconn.CommandTag { return pgconn.NewCommandTag(a.tag) }

func (a *answered) FieldDescriptions() []pgconn.FieldDescription {
	return []pgconn.FieldDescription{{Name: "one"}, {Name: "two"}}
}

func (a *answered) Next() bool { return len(a.rows) > 0 }

func (a *answered) Scan(...any) error { return errors.ErrUnsupported }

func (a *answered) Values() ([]any, error) {
	row := a.rows[0]
	a.rows = a.rows[1:]
	return row, a.err
}

func (a *answered) RawValues() [][]byte { return nil }

func (a *answered) Conn() *pgx.Conn { return nil }

func (a *answered) TypeMap() *pgtype.Map { return nil }

func TestRows_AreReadAsTheyComeOrAtOnce(t *testing.T) {
	t.Parallel()
	of := &pgconn.StatementDescription{Fields: []pgconn.FieldDescription{{Name: "one"}, {Name: "two"}}}
	made := func() (*answered, *rows) {
		a := &answered{rows: [][]any{{int64(1), "a" + mark + "00"}, {int32(2), true}}, tag: "SELECT 2"}
		return a, &rows{of: of, answer: a}
	}
	want := [][]driver.Value{{int64(1), "a\x00"}, {int64(2), int64(1)}}
	all := func(r *rows) (got [][]driver.Value) {
		for {
			row := make([]driver.Value, 2)
			err := r.Next(row)
			if errors.Is(err, io.EOF) {
				return got
			}
			require.NoError(t, err)
			got = append(got, row)
		}
	}

	a, r := made()
	require.Equal(t, []string{"one", "two"}, r.Columns())
	require.Equal(t, want, all(r))
	require.True(t, a.closed)
	require.EqualValues(t, 2, r.count)

	a, r = made()
	require.NoError(t, r.read())
	require.True(t, a.closed)
	require.EqualValues(t, 2, r.count)
	require.Equal(t, want, all(r))
	require.ErrorIs(t, r.Next(make([]driver.Value, 2)), io.EOF)

	a, r = made()
	require.NoError(t, r.Close())
	require.True(t, a.closed, "the rest is not needed")
	_, r = made()
	require.NoError(t, r.read())
	require.NoError(t, r.Close())
	require.Empty(t, all(r))

	a, r = made()
	a.err = errors.New("no")
	require.ErrorIs(t, r.read(), a.err)
	a, r = made()
	a.rows[0][1] = int16(1)
	require.ErrorContains(t, r.read(), "column two: values of the type int16 are not read")
}

func TestAsk_HasTheSizeOfItsTexts(t *testing.T) {
	t.Parallel()
	require.Equal(t, 5, (&ask{args: []any{"abc", []byte("de"), int64(1), nil, 1.5}}).size())
	require.Zero(t, (&ask{}).size())
}

func TestPartsOf_DoesAtOnceWhatIsTheSame(t *testing.T) {
	t.Parallel()
	types := []uint32{pgtype.Int8OID}
	single := &statement{single: true}
	many := &statement{set: &set{types: types}}
	once := &statement{}
	unknown := &statement{of: &pgconn.StatementDescription{SQL: "SELECT $1", ParamOIDs: types}}
	a := func(of *statement) *ask { return &ask{of: of} }
	asks := []*ask{a(single), a(many), a(single), a(unknown), a(many), a(once), a(unknown)}
	parts, err := partsOf(asks)
	require.NoError(t, err)
	require.Equal(t, []*part{
		{of: single, asks: asks[:1]}, {of: many, asks: []*ask{asks[1], asks[4]}, set: many.set}, {of: single, asks: asks[2:3]},
		{of: unknown, asks: asks[3:4]}, {of: unknown, asks: asks[6:7]}, {of: once, asks: asks[5:6]},
	}, parts)
	require.True(t, unknown.single, "it is found out once")
	none, err := partsOf(nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestPart_GivesEachWhatIsTheirs(t *testing.T) {
	t.Parallel()
	of := &statement{of: &pgconn.StatementDescription{}}
	asked := func(n int) (all []*ask) {
		for range n {
			all = append(all, &ask{of: of})
		}
		return all
	}

	alone := &part{of: of, asks: asked(1)}
	answer := &rows{of: of.of, answer: &answered{tag: "UPDATE 3"}}
	require.NoError(t, alone.read(answer))
	require.Same(t, answer, alone.asks[0].found)
	require.EqualValues(t, 3, answer.count)

	inserted := &part{of: of, asks: asked(2), set: &set{}}
	require.NoError(t, inserted.read(&rows{of: of.of, answer: &answered{tag: "INSERT 0 2"}}))
	for _, one := range inserted.asks {
		require.EqualValues(t, 1, one.found.count)
		require.Empty(t, one.found.all)
	}

	updated := &part{of: of, asks: asked(3), set: &set{numbered: true}}
	require.NoError(t, updated.read(&rows{of: of.of, answer: &answered{rows: [][]any{{int64(3), "x"}, {int64(1), "y"}, {int64(3), "z"}}, tag: "UPDATE 3"}}))
	require.Equal(t, [][]any{{"y"}}, updated.asks[0].found.all)
	require.Empty(t, updated.asks[1].found.all)
	require.Equal(t, [][]any{{"x"}, {"z"}}, updated.asks[2].found.all)
	require.Equal(t, []int64{1, 0, 2}, []int64{updated.asks[0].found.count, updated.asks[1].found.count, updated.asks[2].found.count})
}
