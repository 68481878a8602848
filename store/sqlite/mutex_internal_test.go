package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

func TestMutex_OnlyConnectionsHaveNone(t *testing.T) {
	t.Parallel()
	tls := libc.NewTLS()
	defer tls.Close()

	require.Equal(t, noMutex, lib.Xsqlite3_mutex_alloc(tls, lib.SQLITE_MUTEX_RECURSIVE), "as a connection asks for its own")
	lib.Xsqlite3_mutex_enter(tls, noMutex)
	require.EqualValues(t, lib.SQLITE_OK, lib.Xsqlite3_mutex_try(tls, noMutex), "nobody has it")
	lib.Xsqlite3_mutex_leave(tls, noMutex)
	lib.Xsqlite3_mutex_free(tls, noMutex)

	other := lib.Xsqlite3_mutex_alloc(tls, lib.SQLITE_MUTEX_FAST)
	require.NotZero(t, other)
	require.NotEqual(t, noMutex, other)
	lib.Xsqlite3_mutex_enter(tls, other)
	lib.Xsqlite3_mutex_leave(tls, other)
	lib.Xsqlite3_mutex_free(tls, other)
}
