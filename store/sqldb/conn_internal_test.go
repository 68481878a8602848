package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

var (
	errNo    = errors.New("no")
	errTaken = errors.New("the value is taken")
)

// played is a connection that plays a database: of each statement it knows what it gives. It is its own driver and dialect.
type played struct {
	gives    map[string]answer
	prepared []string
	asked    []string              // statements, in their order
	args     [][]driver.NamedValue // of each
	open     int                   // statements that are not closed
	reading  int                   // rows that are not closed
	read     int                   // rows that were asked for
	closed   bool
}

// answer is what a statement gives.
type answer struct {
	err      error // of the statement
	rows     [][]driver.Value
	ends     error // of the rows; nil: their end
	affected error // of the question how many rows it changed
}

func (p *played) Raw(f func(any) error) error { return f(p) }

func (p *played) Close() error {
	p.closed = true
	return nil
}

func (p *played) Statement(query string) string { return "own " + query }

func (p *played) IsUnique(err error) bool { return errors.Is(err, errTaken) }

func (p *played) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	if query == "own nonsense" {
		return nil, errNo
	}
	p.prepared = append(p.prepared, query)
	p.open++
	return &playedStatement{p, query}, nil
}

type playedStatement struct {
	of   *played
	text string
}

func (s *playedStatement) Close() error {
	s.of.open--
	return nil
}

func (s *playedStatement) NumInput() int { return -1 }

func (s *playedStatement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

func (s *playedStatement) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

func (s *playedStatement) ask(args []driver.NamedValue) answer {
	s.of.asked = append(s.of.asked, s.text)
	s.of.args = append(s.of.args, append([]driver.NamedValue(nil), args...))
	return s.of.gives[s.text]
}

func (s *playedStatement) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	a := s.ask(args)
	return changedRows{int64(len(a.rows)), a.affected}, a.err
}

func (s *playedStatement) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	a := s.ask(args)
	if a.err != nil {
		return nil, a.err
	}
	s.of.reading++
	return &playedRows{of: s.of, answer: a}, nil
}

type changedRows struct {
	n   int64
	err error
}

func (c changedRows) LastInsertId() (int64, error) { return 0, errNo }

func (c changedRows) RowsAffected() (int64, error) { return c.n, c.err }

type playedRows struct {
	of *played
	answer
}

func (r *playedRows) Columns() []string {
	if len(r.rows) == 0 {
		return []string{"a"}
	}
	return make([]string, len(r.rows[0]))
}

func (r *playedRows) Close() error {
	r.of.reading--
	return nil
}

func (r *playedRows) Next(row []driver.Value) error {
	r.of.read++
	if len(r.rows) == 0 {
		if r.ends != nil {
			return r.ends
		}
		return io.EOF
	}
	copy(row, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// play makes a part of a transaction on a database that gives these answers.
func play(gives map[string]answer) (*played, *Tx) {
	p := &played{gives: gives}
	return p, NewTx(NewConn(p, p), compute.NewFrozenClock(time.UnixMilli(1)), nil, 0)
}

func TestConn_PreparesAStatementOnceAndGivesTheDriverItsValues(t *testing.T) {
	t.Parallel()
	p := &played{}
	c := NewConn(p, p)
	for range 2 {
		_, err := c.Exec("a", 1, true, false, "s", nil, []byte{7}, 1.5, int64(2), time.Month(3))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"own a"}, p.prepared)
	require.Equal(t, p.args[0], p.args[1])
	var values []driver.Value
	for i, one := range p.args[0] {
		require.Equal(t, i+1, one.Ordinal)
		values = append(values, one.Value)
	}
	require.Equal(t, []driver.Value{int64(1), int64(1), int64(0), "s", nil, []byte{7}, 1.5, int64(2), int64(3)}, values)

	many := make([]any, 3*most)
	for i := range many {
		many[i] = i
	}
	_, err := c.Exec("b", many...)
	require.NoError(t, err)
	require.Len(t, p.args[2], 3*most)
	require.EqualValues(t, 3*most-1, p.args[2][3*most-1].Value)

	_, err = c.Exec("a", 1, struct{}{})
	require.ErrorContains(t, err, "argument 2: ")
	_, err = c.Exec("nonsense")
	require.ErrorContains(t, err, "prepare: no")
	_, err = c.Query("nonsense")
	require.ErrorContains(t, err, "prepare: no")
	require.Len(t, p.asked, 3)

	require.NoError(t, c.Close())
	require.Zero(t, p.open)
	require.True(t, p.closed)
}

func TestConn_AQueryWithinAnotherOneHarmsNeither(t *testing.T) {
	t.Parallel()
	wide := make([]driver.Value, 2*most)
	wide[2*most-1] = "last"
	p := &played{gives: map[string]answer{
		"own outer": {rows: [][]driver.Value{{int64(1), "one"}, {int64(2), "two"}}},
		"own inner": {rows: [][]driver.Value{wide}},
	}}
	c := NewConn(p, p)
	for range 2 {
		outer, err := c.Query("outer")
		require.NoError(t, err)
		var got []driver.Value
		for outer.Next() {
			inner, err := c.Query("inner")
			require.NoError(t, err)
			require.True(t, inner.Next())
			require.Equal(t, wide, inner.Row())
			require.False(t, inner.Next())
			require.NoError(t, inner.Err())
			require.NoError(t, inner.Close())
			got = append(got, outer.Row()...)
		}
		require.NoError(t, outer.Err())
		require.NoError(t, outer.Close())
		require.Equal(t, []driver.Value{int64(1), "one", int64(2), "two"}, got)
	}
	require.Zero(t, p.reading)
}

func TestTx_RunsNothingAfterAStatementThatFailed(t *testing.T) {
	t.Parallel()
	name := columns[string]{text("name", itself[string])}
	list1 := func(tx *Tx) error {
		_, err := list(tx, "list", name, "list")
		return err
	}
	for what, fails := range map[string]struct {
		gives answer
		wrong func(*Tx) error
		says  string
	}{
		"a statement":          {answer{err: errNo}, func(tx *Tx) error { return tx.Exec("x") }, "write: no"},
		"how many it changed":  {answer{affected: errNo}, func(tx *Tx) error { _, err := tx.changed("change", "x"); return err }, "change: no"},
		"a query":              {answer{err: errNo}, func(tx *Tx) error { _, err := list(tx, "read", name, "x"); return err }, "read: no"},
		"the rest of its rows": {answer{rows: [][]driver.Value{{"a"}}, ends: errNo}, func(tx *Tx) error { _, err := list(tx, "read", name, "x"); return err }, "read: no"},
		"a value of another type": {
			answer{rows: [][]driver.Value{{int64(1)}}}, func(tx *Tx) error { _, _, err := get(tx, "read", name, "x"); return err }, "read: name: it is a int64 and no string",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, tx := play(map[string]answer{"own x": fails.gives, "own list": {rows: [][]driver.Value{{"a"}}}})
			require.NoError(t, list1(tx))
			require.False(t, tx.Changed())
			err := fails.wrong(tx)
			require.EqualError(t, err, fails.says)
			require.True(t, tx.Changed(), "nobody knows")

			asked := len(p.asked)
			require.Equal(t, err, list1(tx))
			require.Equal(t, err, tx.Exec("another"))
			_, changed := tx.changed("change", "another")
			require.Equal(t, err, changed)
			require.Len(t, p.asked, asked)
			require.Zero(t, p.reading, "rows are closed")

			require.Equal(t, err, tx.End())
			require.ErrorIs(t, list1(tx), errOver)
			require.ErrorIs(t, tx.Exec("another"), errOver)
			require.Len(t, p.asked, asked)
		})
	}
}

func TestTx_TakenValueIsAConflictAndSpoilsNothing(t *testing.T) {
	t.Parallel()
	name := columns[string]{text("name", itself[string])}
	p, tx := play(map[string]answer{
		"own x": {err: errTaken}, "own rows": {rows: [][]driver.Value{{"a"}}, ends: errTaken}, "own list": {rows: [][]driver.Value{{"a"}, {"b"}}},
	})
	err := tx.Exec("x")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorIs(t, err, errTaken)
	require.ErrorContains(t, err, "write: it exists already")
	_, err = list(tx, "take", name, "x")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	_, err = list(tx, "take", name, "rows")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.False(t, tx.Changed())

	all, err := list(tx, "list", name, "list")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, all)
	ok, err := tx.changed("change", "list")
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, tx.Changed())
	ok, err = tx.changed("change", "nothing")
	require.NoError(t, err)
	require.False(t, ok)
	require.Zero(t, p.reading)
	require.NoError(t, tx.End())
}

func TestTx_OneRowIsAskedForOnce(t *testing.T) {
	t.Parallel()
	name := columns[string]{text("name", itself[string])}
	p, tx := play(map[string]answer{"own x": {rows: [][]driver.Value{{"a"}, {"b"}}}})
	one, found, err := get(tx, "read", name, "x")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "a", one)
	require.Equal(t, 1, p.read)
	require.False(t, tx.Changed())
	_, found, err = get(tx, "read", name, "nothing")
	require.NoError(t, err)
	require.False(t, found)

	one, found, err = gave(tx, "change", name, "x") // what changes something is run to its end
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "b", one)
	require.Equal(t, 5, p.read)
	require.True(t, tx.Changed())
	require.Zero(t, p.reading)
}

func TestTx_EffectsAreInTheirOrder(t *testing.T) {
	t.Parallel()
	_, tx := play(nil)
	require.Empty(t, tx.Effects())
	var did []int
	for n := range 3 {
		tx.AfterCommit(func() { did = append(did, n) })
	}
	for _, effect := range tx.Effects() {
		effect()
	}
	require.Equal(t, []int{0, 1, 2}, did)
}
