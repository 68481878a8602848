package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lib "modernc.org/sqlite/lib"

	"github.com/berthdev/berth/impl/compute"
)

// calledAfter gives after how many commits of so many writes a checkpoint is called for.
func calledAfter(e *engine, writes int) (commits int) {
	for len(e.long) == 0 && commits < 10_000 {
		e.grew(writes)
		commits++
	}
	return commits
}

func TestCheckpoint_IsCalledForAfterAboutAThousandPages(t *testing.T) {
	t.Parallel()
	e := newEngine(nil, nil)
	for range 2 { // it counts anew each time
		single := calledAfter(e, 1)
		require.Greater(t, single, 150)
		require.Less(t, single, 350)
		<-e.long
		many := calledAfter(e, 256)
		require.Greater(t, many, 4)
		require.Less(t, many, 16)

		e.call() // one is called for already
		require.Len(t, e.long, 1)
		<-e.long
	}
}

func TestShrink_GivesBackOnlyWhereMuchIsUnused(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	c := d.engine.conn
	run := func(queries ...string) {
		t.Helper()
		for _, query := range queries {
			_, err := c.Exec(query)
			require.NoError(t, err)
		}
	}
	of := func(what string) int64 {
		t.Helper()
		n, err := number(c, "PRAGMA "+what)
		require.NoError(t, err)
		return n
	}

	run("CREATE TABLE stays (body)", "INSERT INTO stays VALUES (zeroblob(12000000))", "CREATE TABLE goes (body)", "INSERT INTO goes VALUES (zeroblob(1300000))", "DROP TABLE goes")
	require.Greater(t, of("freelist_count"), int64(shrinkLeast))
	pages := of("page_count")
	require.False(t, shrink(c), "it is a small part of the file")
	require.Equal(t, pages, of("page_count"))

	run("DROP TABLE stays")
	require.True(t, shrink(c))
	require.Less(t, of("page_count"), pages)
	require.GreaterOrEqual(t, of("page_count"), pages-70, "a little at a time")
	for n := 0; shrink(c); n++ {
		require.Less(t, n, 1000)
	}
	require.LessOrEqual(t, of("freelist_count"), int64(shrinkLeast))
}

// TestNewFile_HeaderIsAsTheFormatHasIt holds it against https://www.sqlite.org/fileformat2.html#the_database_header.
func TestNewFile_HeaderIsAsTheFormatHasIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	_, err := prepareFile(path, true)
	require.NoError(t, err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	objects, err := schemaObjects(schema)
	require.NoError(t, err)

	require.Equal(t, "SQLite format 3\x00", string(file[:16]))
	require.Equal(t, []byte{0x10, 0, 2, 2, 0, 64, 32, 32}, file[16:24], "the size of a page, WAL for who reads and writes, nothing reserved, and what is fixed")
	for at, want := range map[int]int{
		24: 1, 28: len(file) / 4096, // changes; pages
		32: 0, 36: 0, // no page is unused
		40: 1, 44: 4, 48: 0, // changes of the schema; its format; the size of the cache
		52: len(objects) + 2, 56: 1, // the last root; UTF-8
		60: len(migrations()), 64: 1, // the version of the schema; what is deleted is given back
		68: 0, 92: 1, 96: lib.SQLITE_VERSION_NUMBER, // the number of pages is right as long as there are no more changes than these
	} {
		require.EqualValues(t, want, binary.BigEndian.Uint32(file[at:]), "at %d", at)
	}
	require.Zero(t, len(file)%4096)
}

func TestNewFile_HoldsStatementsUpToALimit(t *testing.T) {
	t.Parallel()
	statement := "CREATE TABLE t (n INTEGER) --"
	text := func(size int) string {
		return "-- comment\n\n" + statement + strings.Repeat("x", size-len(statement)) + ";\n\nCREATE INDEX i ON t (n);\n"
	}
	objects, err := schemaObjects(text(4096 - 200))
	require.NoError(t, err)
	var content bytes.Buffer
	require.NoError(t, writeNewFile(&content, objects, 1))
	path := filepath.Join(t.TempDir(), "full.db")
	require.NoError(t, os.WriteFile(path, content.Bytes(), 0o600))
	described := describe(t, path)
	require.Contains(t, described, "PRAGMA integrity_check: ok")
	require.Contains(t, described, "PRAGMA user_version: 1")
	require.Contains(t, fmt.Sprint(described), "index i t CREATE INDEX i ON t (n)")

	objects, err = schemaObjects(text(4096 - 199))
	require.NoError(t, err)
	require.ErrorContains(t, writeNewFile(&content, objects, 1), "the statement of t has 3897 bytes")
}

func TestFollow_OneAtATimeAndAgainAfterwards(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	nothing := func(Piece) {}
	for range 3 {
		require.False(t, d.followed.follows())
		tail, err := d.Follow(t.Context(), compute.SystemClock{}.Now, nothing)
		require.NoError(t, err)
		require.True(t, d.followed.follows())
		_, err = d.Follow(t.Context(), compute.SystemClock{}.Now, nothing)
		require.ErrorContains(t, err, "somebody does already")
		_, err = tail.Read(1 << 20)
		require.NoError(t, err)
		tail.Close()
		_, err = tail.Read(1 << 20)
		require.ErrorIs(t, err, ErrUnfollowed)
	}
	require.Len(t, d.pools, 3, "the connections that hold the log stay open, beside the one that writes")

	tail, err := d.Follow(t.Context(), compute.SystemClock{}.Now, nothing)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	<-tail.Ended()
	_, err = tail.Read(1 << 20)
	require.ErrorContains(t, err, "the store is closed")
	_, err = d.Follow(t.Context(), compute.SystemClock{}.Now, nothing)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.NoError(t, d.Close())
}
