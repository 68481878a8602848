package faulttest

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// The VFS below is that of the system with other functions in it. SQLite's memory is not Go's: an address in it is a uintptr,
// and a function is called by the address of its closure.

// at gives what is at an address of SQLite's.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) } //nolint:gosec // SQLite calls through C structs

// function makes a Go function of one of SQLite's.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{address})) } //nolint:gosec // SQLite calls through C structs

// address gives what SQLite calls a Go function by, which must be one of the package's own: those never move.
func address(f any) uintptr {
	type words [2]uintptr
	return (*words)(unsafe.Pointer(&f))[1] //nolint:gosec // SQLite calls through C structs
}

// handle is an open file of a disk.
type handle struct {
	disk    *Disk
	inode   *inode
	path    string
	methods uintptr // the system's
	log     bool    // of a database: its first sync is one of the directory's names, too
}

var (
	base    uintptr     // the VFS of the system
	table   uintptr     // our methods
	handles sync.Map    // by address
	locked  atomic.Bool // a call was refused for a lock of a test
)

// register puts the VFS before the system's as the default one.
func register() {
	t := libc.NewTLS()
	base = lib.Xsqlite3_vfs_find(t, 0)
	own := libc.Xmalloc(t, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
	name, err := libc.CString("faulttest")
	if err != nil {
		panic(err)
	}

	vfs := at[lib.Tsqlite3_vfs](own)
	*vfs = *at[lib.Tsqlite3_vfs](base)
	vfs.FzName, vfs.FpNext = name, 0
	vfs.FxOpen, vfs.FxDelete, vfs.FxAccess, vfs.FxSleep = address(xOpen), address(xDelete), address(xAccess), address(xSleep)
	table = libc.Xmalloc(t, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_io_methods{})))

	*at[lib.Tsqlite3_io_methods](table) = lib.Tsqlite3_io_methods{
		FiVersion: 2, FxClose: address(xClose), FxRead: address(xRead), FxWrite: address(xWrite), FxTruncate: address(xTruncate),
		FxSync: address(xSync), FxFileSize: address(xFileSize), FxLock: address(xLock), FxUnlock: address(xUnlock),
		FxCheckReservedLock: address(xCheckReservedLock), FxFileControl: address(xFileControl), FxSectorSize: address(xSectorSize),
		FxDeviceCharacteristics: address(xDeviceCharacteristics), FxShmMap: address(xShmMap), FxShmLock: address(xShmLock),
		FxShmBarrier: address(xShmBarrier), FxShmUnmap: address(xShmUnmap),
	}

	if code := lib.Xsqlite3_vfs_register(t, own, 1); code != lib.SQLITE_OK {
		panic(code)
	}
}

func systemVFS() *lib.Tsqlite3_vfs { return at[lib.Tsqlite3_vfs](base) }

func xOpen(t *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	open := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](systemVFS().FxOpen)
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	d := diskOf(path)
	if d == nil { // a temporary file has no name
		return open(t, base, name, file, flags, out)
	}
	if d.call(Open, path) != None {
		*at[uintptr](file) = 0
		return lib.SQLITE_CANTOPEN
	}

	code := open(t, base, name, file, flags, out)
	if methods := *at[uintptr](file); code == lib.SQLITE_OK && methods != 0 {
		handles.Store(file, &handle{disk: d, inode: d.opened(path), path: path, methods: methods, log: flags&lib.SQLITE_OPEN_WAL != 0})
		*at[uintptr](file) = table
	}
	return code
}

func xDelete(t *libc.TLS, _, name uintptr, sync int32) int32 {
	path := libc.GoString(name)
	d := diskOf(path)
	if d != nil && d.call(Delete, path) != None {
		return lib.SQLITE_IOERR_DELETE
	}

	code := function[func(*libc.TLS, uintptr, uintptr, int32) int32](systemVFS().FxDelete)(t, base, name, sync)
	if d != nil && code == lib.SQLITE_OK {
		d.renamed(naming{from: path})
		if sync != 0 {
			d.syncedNames(filepath.Dir(path))
		}
	}

	return code
}

func xAccess(t *libc.TLS, _, name uintptr, flags int32, out uintptr) int32 {
	path := libc.GoString(name)
	if d := diskOf(path); d != nil && d.call(Access, path) != None {
		return lib.SQLITE_IOERR_ACCESS
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, uintptr) int32](systemVFS().FxAccess)(t, base, name, flags, out)
}

// xSleep waits for a lock. That of a test is not given back meanwhile.
func xSleep(t *libc.TLS, _ uintptr, microseconds int32) int32 {
	if locked.Load() {
		return microseconds
	}
	return function[func(*libc.TLS, uintptr, int32) int32](systemVFS().FxSleep)(t, base, microseconds)
}

func of(file uintptr) *handle {
	h, _ := handles.Load(file)
	return h.(*handle)
}

// do runs a method of the system's with its own table in the file.
func (h *handle) do(file uintptr, method func(*lib.Tsqlite3_io_methods) int32) int32 {
	*at[uintptr](file) = h.methods
	defer func() { *at[uintptr](file) = table }()
	return method(at[lib.Tsqlite3_io_methods](h.methods))
}

func (h *handle) call(kind Kind) Fault { return h.disk.call(kind, h.path) }

func xClose(t *libc.TLS, file uintptr) int32 {
	h := of(file)
	handles.Delete(file)
	*at[uintptr](file) = h.methods
	return function[func(*libc.TLS, uintptr) int32](at[lib.Tsqlite3_io_methods](h.methods).FxClose)(t, file)
}

func xRead(t *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	h := of(file)
	if h.call(Read) != None {
		return lib.SQLITE_IOERR_READ
	}
	return h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxRead)(t, file, buffer, n, offset)
	})
}

func xWrite(t *libc.TLS, file, buffer uintptr, n int32, offset int64) int32 {
	h := of(file)
	failed := int32(lib.SQLITE_OK)
	switch h.call(Write) {
	case Full:
		failed, n = lib.SQLITE_FULL, n/2
	case Failing:
		failed, n = lib.SQLITE_IOERR_WRITE, n/2
	case None, Locked:
	}

	code := h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(t, file, buffer, n, offset)
	})
	if code == lib.SQLITE_OK && n > 0 {
		h.disk.wrote(h.inode, offset, append([]byte(nil), unsafe.Slice(at[byte](buffer), n)...)) //nolint:gosec // SQLite calls through C structs
	}
	if failed != lib.SQLITE_OK {
		return failed
	}

	return code
}

func xTruncate(t *libc.TLS, file uintptr, size int64) int32 {
	h := of(file)
	if h.call(Truncate) != None {
		return lib.SQLITE_IOERR_TRUNCATE
	}
	code := h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(t, file, size)
	})
	if code == lib.SQLITE_OK {
		h.disk.wrote(h.inode, size, nil)
	}
	return code
}

func xSync(t *libc.TLS, file uintptr, flags int32) int32 {
	h := of(file)
	if h.call(Sync) != None {
		h.disk.unsynced(h.inode)
		return lib.SQLITE_IOERR_FSYNC
	}

	code := h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(t, file, flags)
	})
	if code == lib.SQLITE_OK {
		h.disk.synced(h.inode)
		if h.log { // as unixSync does
			h.log = false
			h.disk.syncedNames(filepath.Dir(h.path))
		}
	}

	return code
}

func xFileSize(t *libc.TLS, file, out uintptr) int32 {
	h := of(file)
	if h.call(Size) != None {
		return lib.SQLITE_IOERR_FSTAT
	}
	return h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(t, file, out)
	})
}

func xLock(t *libc.TLS, file uintptr, level int32) int32 {
	h := of(file)
	switch h.call(Lock) {
	case Locked:
		return lib.SQLITE_BUSY
	case Failing:
		return lib.SQLITE_IOERR_LOCK
	case None, Full:
	}
	return h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](m.FxLock)(t, file, level)
	})
}

func xUnlock(t *libc.TLS, file uintptr, level int32) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](m.FxUnlock)(t, file, level)
	})
}

func xCheckReservedLock(t *libc.TLS, file, out uintptr) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxCheckReservedLock)(t, file, out)
	})
}

func xFileControl(t *libc.TLS, file uintptr, operation int32, argument uintptr) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(t, file, operation, argument)
	})
}

func xSectorSize(t *libc.TLS, file uintptr) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr) int32](m.FxSectorSize)(t, file)
	})
}

func xDeviceCharacteristics(t *libc.TLS, file uintptr) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr) int32](m.FxDeviceCharacteristics)(t, file)
	})
}

func xShmMap(t *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32 {
	h := of(file)
	if how := h.call(ShmMap); how == Failing || how == Full && extend != 0 { // what is there already needs no room
		return lib.SQLITE_IOERR_SHMSIZE
	}
	return h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](m.FxShmMap)(t, file, page, size, extend, out)
	})
}

func xShmLock(t *libc.TLS, file uintptr, offset, n, flags int32) int32 {
	h := of(file)
	if flags&lib.SQLITE_SHM_LOCK != 0 {
		switch h.call(ShmLock) {
		case Locked:
			if flags&lib.SQLITE_SHM_EXCLUSIVE != 0 {
				return lib.SQLITE_BUSY
			}
		case Failing:
			return lib.SQLITE_IOERR_SHMLOCK
		case None, Full:
		}
	}

	return h.do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](m.FxShmLock)(t, file, offset, n, flags)
	})
}

func xShmBarrier(t *libc.TLS, file uintptr) {
	of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		function[func(*libc.TLS, uintptr)](m.FxShmBarrier)(t, file)
		return lib.SQLITE_OK
	})
}

func xShmUnmap(t *libc.TLS, file uintptr, remove int32) int32 {
	return of(file).do(file, func(m *lib.Tsqlite3_io_methods) int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](m.FxShmUnmap)(t, file, remove)
	})
}
