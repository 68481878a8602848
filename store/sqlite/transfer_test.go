package sqlite_test

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// rowsOf gives the rows of a table, which are its own.
func rowsOf(t *testing.T, of transfer.Source, table transfer.Table) (all [][]any) {
	t.Helper()
	for row, err := range of.Rows(t.Context(), table) {
		require.NoError(t, err)
		all = append(all, slices.Clone(row))
	}
	return all
}

// tableNamed gives a table by its name.
func tableNamed(t *testing.T, of transfer.Source, name string) transfer.Table {
	t.Helper()
	i := slices.IndexFunc(of.Tables(), func(one transfer.Table) bool { return one.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return of.Tables()[i]
}

func TestTransfer_CopiesADatabaseWithItsLog(t *testing.T) {
	t.Parallel()
	path := sound(t)
	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.InsertPod(compute.Pod{ID: "logged", UserID: "u", Status: compute.PodRunning}),
			tx.InsertRegistry(compute.Registry{ID: "r", UserID: "u", Login: []byte{}}))
	}))
	crash := filepath.Join(t.TempDir(), "berth.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crash+end, text, 0o600))
	}

	from, err := sqlite.OpenSource(t.Context(), crash)
	require.NoError(t, err)
	dir := t.TempDir()
	to := filepath.Join(dir, "copy.db")
	for _, end := range []string{"", ".new", "-journal"} { // what a crash left
		require.NoError(t, os.WriteFile(to+".unfinished"+end, []byte("x"), 0o600))
	}
	target, err := sqlite.NewTarget(t.Context(), to)
	require.NoError(t, err)
	require.NoFileExists(t, to, "it has its name once all of it is there")
	copied, err := transfer.Run(t.Context(), from, target, nil)
	require.NoError(t, err)
	require.Len(t, copied, len(from.Tables()))
	require.NoError(t, target.Close())
	require.Equal(t, []string{"copy.db"}, namesIn(t, dir))
	info, err := os.Stat(to)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, "wal", pragmaOf(t, to, "journal_mode"))

	again, err := sqlite.OpenSource(t.Context(), to)
	require.NoError(t, err)
	pods := tableNamed(t, from, "pods")
	require.Equal(t, from.Tables(), again.Tables())
	require.Len(t, rowsOf(t, again, pods), 4)
	require.Equal(t, rowsOf(t, from, pods), rowsOf(t, again, pods))
	require.Contains(t, rowsOf(t, again, tableNamed(t, from, "registries"))[0], []byte{}, "no bytes are not NULL")
	require.NoError(t, from.Close())
	require.NoError(t, again.Close())
	require.NoError(t, openAt(t, to).Write(t.Context(), insertJob("new")))
}

// namesIn gives the names of what is in a directory.
func namesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	for name := range contents(t, dir) {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func TestSource_KnowsTheTablesAndWhatTheyHangOn(t *testing.T) {
	t.Parallel()
	path := sound(t)
	before := contents(t, filepath.Dir(path))
	from, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, transfer.Table{
		Name: "chunks", Key: []string{"job_seq", "n"}, Parents: []string{"jobs"},
		Columns: []transfer.Column{
			{Name: "job_seq", Kind: transfer.Integer}, {Name: "metrics", Kind: transfer.Bytes, Null: true},
			{Name: "n", Kind: transfer.Integer}, {Name: "output", Kind: transfer.Bytes, Null: true},
		},
	}, tableNamed(t, from, "chunks"))
	columns := tableNamed(t, from, "pods").Columns
	require.Contains(t, columns, transfer.Column{Name: "cost_per_hour", Kind: transfer.Real})
	require.Contains(t, columns, transfer.Column{Name: "reason", Kind: transfer.Text})
	require.Equal(t, []string{"seq"}, tableNamed(t, from, "pods").Key)
	for _, one := range from.Tables() {
		require.NotContains(t, one.Name, "sqlite_", "those of SQLite are none of berth's")
	}

	next, stop := iter.Pull2(from.Rows(t.Context(), tableNamed(t, from, "pods")))
	_, err, more := next()
	require.NoError(t, err)
	require.True(t, more)
	stop() // who has enough leaves nothing open
	require.Len(t, rowsOf(t, from, tableNamed(t, from, "pods")), 3)
	reads := 0
	for _, err := range from.Rows(t.Context(), transfer.Table{Name: "none", Columns: []transfer.Column{{Name: "a"}}}) {
		reads++
		require.ErrorContains(t, err, "no such table: none")
	}
	require.Equal(t, 1, reads)
	require.NoError(t, from.Close())
	require.Equal(t, before, contents(t, filepath.Dir(path)), "a source is not changed")
}

func TestSource_RefusesWhatItIsNotToRead(t *testing.T) {
	t.Parallel()
	refuses := func(path, says string) {
		t.Helper()
		_, err := sqlite.OpenSource(t.Context(), path)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, path)
	}
	path := sound(t)
	planted(t, path, `CREATE TABLE odd (a NUMERIC)`)
	refuses(path, `odd.a is of the type "NUMERIC"`)
	planted(t, path, `DROP TABLE odd`, `PRAGMA user_version = 3`)
	refuses(path, "an older berth wrote it")
	planted(t, path, `PRAGMA user_version = 999`)
	refuses(path, "a newer berth wrote it")
	planted(t, path, `DROP TABLE keys`)
	refuses(path, "it has no table keys")
	require.NoError(t, os.WriteFile(path, []byte("This is my diary, and no database at all."), 0o600))
	refuses(path, "it is no database, or a damaged one")

	none := filepath.Join(t.TempDir(), "none.db")
	_, err := sqlite.OpenSource(t.Context(), none)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, none)

	file, log, ends := crashed(t)
	require.NoError(t, os.WriteFile(none, file, 0o600))
	log[ends[1]+100]++
	require.NoError(t, os.WriteFile(none+"-wal", log, 0o600))
	refuses(none, "the log of the database is damaged")
}

func TestTarget_RefusesAPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	path := sound(t)
	before := contents(t, filepath.Dir(path))
	_, err := sqlite.NewTarget(t.Context(), path)
	full, is := errors.AsType[*transfer.NotEmpty](err)
	require.True(t, is, err)
	require.Contains(t, full.Tables, "pods")
	require.NotContains(t, full.Tables, "secrets", "it has none")
	require.ErrorContains(t, err, "move it away")
	require.ErrorContains(t, err, path)
	require.Equal(t, before, contents(t, filepath.Dir(path)), "not even an empty log is left")

	bare := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, openAt(t, bare).Close())
	_, err = sqlite.NewTarget(t.Context(), bare)
	require.ErrorContains(t, err, "there is a file already")
	_, is = errors.AsType[*transfer.NotEmpty](err)
	require.False(t, is, "nothing is in it")

	other := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, os.WriteFile(other, []byte("This is my diary, and no database at all."), 0o600))
	_, err = sqlite.NewTarget(t.Context(), other)
	require.ErrorContains(t, err, "there is a file already")
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "berth.db"+end), nil, 0o600))
		_, err = sqlite.NewTarget(t.Context(), filepath.Join(dir, "berth.db"))
		require.ErrorContains(t, err, "it is missing, but its berth.db"+end+" is there: move that away")
		require.Equal(t, []string{"berth.db" + end}, namesIn(t, dir))
	}
}

// oneRow gives one row, and then an error if there is one.
func oneRow(one []any, err error) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if yield(one, nil) && err != nil {
			yield(nil, err)
		}
	}
}

func TestTarget_WithoutCommitNothingStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "berth.db")
	to, err := sqlite.NewTarget(t.Context(), path)
	require.NoError(t, err)
	keys := tableNamed(t, to, "ssh_keys")
	require.NoError(t, to.Fill(t.Context(), keys, oneRow([]any{"[]", "u"}, nil)))
	require.Equal(t, [][]any{{"[]", "u"}}, rowsOf(t, to, keys))
	refused := errors.New("refused")
	require.ErrorIs(t, to.Fill(t.Context(), keys, oneRow([]any{"[]", "v"}, refused)), refused)
	require.Error(t, to.Fill(t.Context(), keys, oneRow([]any{"[]", "u"}, nil)), "the key is taken")
	require.Error(t, to.Fill(t.Context(), transfer.Table{Name: "none"}, oneRow(nil, nil)))
	require.NoError(t, to.Close())
	require.Empty(t, namesIn(t, dir))

	to, err = sqlite.NewTarget(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, to.Fill(t.Context(), tableNamed(t, to, "chunks"), oneRow([]any{int64(1), nil, int64(1), nil}, nil)))
	require.ErrorContains(t, to.Commit(t.Context()), "a row of chunks hangs on one of jobs that is not there")
	require.NoError(t, to.Close())
	require.Empty(t, namesIn(t, dir))

	to, err = sqlite.NewTarget(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, to.Commit(t.Context()))
	require.NoError(t, to.Close())
	require.Equal(t, []string{"berth.db"}, namesIn(t, dir), "an empty one is one, too")
	require.Equal(t, "wal", pragmaOf(t, path, "journal_mode"))
}
