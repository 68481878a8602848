package sqlite

import (
	"errors"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// The driver opens connections so that SQLite takes the mutex of one for each value that it binds or gives, which was a third of the
// time of a list of pods. Here each connection is used by one goroutine at a time, as database/sql and the driver ask for anyway; so
// these mutexes do nothing, as with SQLITE_OPEN_NOMUTEX, which the driver has no setting for. All others are as they were.
func init() {
	if err := freeConnections(); err != nil {
		panic("sqlite: " + err.Error()) // before main, and whatever is opened
	}
}

// noMutex is the mutex of every connection.
var noMutex uintptr

// mutexMethods are what SQLite is told: it copies them.
var mutexMethods lib.Sqlite3_mutex_methods

// sqliteMutex are the mutexes of SQLite itself.
var sqliteMutex struct {
	alloc       func(*libc.TLS, int32) uintptr
	free, enter func(*libc.TLS, uintptr)
	try         func(*libc.TLS, uintptr) int32
	leave       func(*libc.TLS, uintptr)
}

// freeConnections gives SQLite mutexes of which those of connections do nothing. No connection may be open. Of its own use of the same
// kind there is only that of the first initialization, which is over before this returns.
func freeConnections() error {
	tls := libc.NewTLS()
	defer tls.Close()
	noMutex = libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(noMutex)))
	args := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(noMutex)))
	if noMutex == 0 || args == 0 {
		return errors.New("there is no memory for mutexes")
	}
	defer libc.Xfree(tls, args)
	list := libc.VaList(args, uintptr(unsafe.Pointer(&mutexMethods))) //nolint:gosec // G103: SQLite reads and writes it before this returns

	for _, step := range []func() int32{
		func() int32 { return lib.Xsqlite3_initialize(tls) }, // which chooses the mutexes
		func() int32 { return lib.Xsqlite3_shutdown(tls) },   // else they cannot be changed
		func() int32 { return lib.Xsqlite3_config(tls, lib.SQLITE_CONFIG_GETMUTEX, list) },
		func() int32 {
			wrap(&mutexMethods)
			return lib.Xsqlite3_config(tls, lib.SQLITE_CONFIG_MUTEX, list)
		},
		func() int32 { return lib.Xsqlite3_initialize(tls) },
	} {
		if code := step(); code != lib.SQLITE_OK {
			return errors.New(libc.GoString(lib.Xsqlite3_errstr(tls, code)))
		}
	}
	return nil
}

// wrap keeps the functions, and puts in their place those that do nothing with the mutex of a connection.
func wrap(methods *lib.Sqlite3_mutex_methods) {
	own := &sqliteMutex
	own.alloc = function[func(*libc.TLS, int32) uintptr](methods.FxMutexAlloc)
	own.free = function[func(*libc.TLS, uintptr)](methods.FxMutexFree)
	own.enter = function[func(*libc.TLS, uintptr)](methods.FxMutexEnter)
	own.try = function[func(*libc.TLS, uintptr) int32](methods.FxMutexTry)
	own.leave = function[func(*libc.TLS, uintptr)](methods.FxMutexLeave)

	methods.FxMutexAlloc = address(func(tls *libc.TLS, kind int32) uintptr {
		if kind == lib.SQLITE_MUTEX_RECURSIVE {
			return noMutex
		}
		return sqliteMutex.alloc(tls, kind)
	})
	methods.FxMutexFree = address(unlessNone(&own.free))
	methods.FxMutexEnter = address(unlessNone(&own.enter))
	methods.FxMutexLeave = address(unlessNone(&own.leave))
	methods.FxMutexTry = address(func(tls *libc.TLS, mutex uintptr) int32 {
		if mutex == noMutex {
			return lib.SQLITE_OK
		}
		return sqliteMutex.try(tls, mutex)
	})
}

// unlessNone calls what it points to for the mutexes that are ones.
func unlessNone(f *func(*libc.TLS, uintptr)) func(*libc.TLS, uintptr) {
	return func(tls *libc.TLS, mutex uintptr) {
		if mutex != noMutex {
			(*f)(tls, mutex)
		}
	}
}

// The functions of SQLite are Go's, and stand in its memory as addresses of what Go calls them by. functions keeps the ones that do so alive.
var functions []any

func address[F any](f F) uintptr {
	functions = append(functions, f)
	return *(*uintptr)(unsafe.Pointer(&f)) //nolint:gosec // G103: as above
}

func function[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&address)) //nolint:gosec // G103: as above
}
