// Package faulttest is a disk that fails and loses power, for tests of what stores on it: every call of SQLite to its files, and
// every call of package atomicfile, goes through it, can be made to fail, and is remembered until it is synced. It stands below
// whole stores and servers, which are the real ones. The default VFS of SQLite and the system of atomicfile are the process's;
// only what lies in the directory of a Disk is touched.
package faulttest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/atomicfile"
)

// Kind is what a call asks for.
type Kind string

// The calls of SQLite. Those that give locks back, and those that only ask what the disk is like, are no calls here: SQLite
// does not expect them to fail.
const (
	Open     Kind = "open"
	Delete   Kind = "delete"
	Access   Kind = "access"
	Read     Kind = "read"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	Size     Kind = "size"
	Lock     Kind = "lock"
	ShmMap   Kind = "shmmap"
	ShmLock  Kind = "shmlock"
)

// The calls of package atomicfile.
const (
	Mkdir     Kind = "mkdir"
	Create    Kind = "create"
	FileWrite Kind = "filewrite"
	FileSync  Kind = "filesync"
	Rename    Kind = "rename"
	DirSync   Kind = "dirsync"
)

// Changes reports whether calls of the kind change what a loss of power leaves, or what is certain to be left.
func (k Kind) Changes() bool {
	switch k {
	case Access, Read, Size, Lock, ShmMap, ShmLock:
		return false
	default:
		return true
	}
}

// Call is one call.
type Call struct {
	N    int // from 0
	Kind Kind
	Path string
}

// Fault is how a call fails.
type Fault int

// The faults.
const (
	None    Fault = iota
	Failing       // an I/O error; of a write, half is written
	Full          // no room: of calls that write, half is written; others do not fail
	Locked        // another program has the lock: calls for locks alone fail, and none is waited for in the process from then on
)

// Disk is what the stores of one directory lie on. Its functions are set before it is used, or by Set.
type Disk struct {
	root string

	mu      sync.Mutex
	fault   func(Call) Fault // nil: no call fails
	seen    func(Call)       // called before a call is carried out, and without a lock; nil: nobody looks
	lying   bool             // a sync is acknowledged and does nothing
	calls   int
	kinds   map[Kind]int
	current map[string]*inode // by path
	certain map[string]*inode // the names that are on disk
	names   []naming          // changes of names since, in their order
}

// disks are those in use. SQLite calls from any goroutine.
var disks = struct {
	sync.RWMutex
	all map[string]*Disk
}{all: map[string]*Disk{}}

var installed = sync.OnceFunc(func() {
	register()
	atomicfile.Use(system{})
})

// New puts a disk below a directory, which must exist, for as long as the test runs. What is in it counts as synced.
func New(t testing.TB, root string) *Disk {
	t.Helper()
	installed()
	d := &Disk{root: root, kinds: map[Kind]int{}, current: map[string]*inode{}, certain: map[string]*inode{}}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}

		n := &inode{dir: e.IsDir()}
		if !n.dir {
			if n.base, err = os.ReadFile(path); err != nil { //nolint:gosec // a directory of the test alone
				return err
			}
		}

		d.current[path], d.certain[path] = n, n
		return nil
	}))

	disks.Lock()
	defer disks.Unlock()
	disks.all[root] = d
	t.Cleanup(func() {
		disks.Lock()
		defer disks.Unlock()
		delete(disks.all, root)
	})

	return d
}

// diskOf gives the disk that the path is on; nil: it is on no disk of a test.
func diskOf(path string) *Disk {
	disks.RLock()
	defer disks.RUnlock()
	for root, d := range disks.all {
		if strings.HasPrefix(path, root+string(filepath.Separator)) {
			return d
		}
	}
	return nil
}

// Fail has f decide which calls fail from now on; nil: none.
func (d *Disk) Fail(f func(Call) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = f
	if f == nil {
		locked.Store(false)
	}
}

// Watch has f called before each call from now on; nil: nobody looks.
func (d *Disk) Watch(f func(Call)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = f
}

// Lie has syncs be acknowledged from now on that do nothing.
func (d *Disk) Lie() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lying = true
}

// Calls gives how many calls there were, and of which kinds.
func (d *Disk) Calls() (n int, kinds string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls, fmt.Sprint(d.kinds)
}

// Nth fails one call, once.
func Nth(n int, how Fault) func(Call) Fault {
	return func(c Call) Fault {
		if c.N == n {
			return how
		}
		return None
	}
}

// From fails the call and all after it.
func From(n int, how Fault) func(Call) Fault {
	return func(c Call) Fault {
		if c.N >= n {
			return how
		}
		return None
	}
}

// Always fails every call of the kinds, all if none is named.
func Always(how Fault, kinds ...Kind) func(Call) Fault {
	return func(c Call) Fault {
		for _, k := range kinds {
			if c.Kind == k {
				return how
			}
		}
		if len(kinds) == 0 {
			return how
		}
		return None
	}
}

// call counts a call and gives how it is to fail.
func (d *Disk) call(kind Kind, path string) Fault {
	d.mu.Lock()
	c := Call{N: d.calls, Kind: kind, Path: path}
	d.calls++
	d.kinds[kind]++
	fault, seen := d.fault, d.seen
	d.mu.Unlock()

	if seen != nil {
		seen(c)
	}
	if fault == nil {
		return None
	}

	how := fault(c)
	switch {
	case how == Full && kind != Write && kind != FileWrite && kind != Create && kind != ShmMap,
		how == Locked && kind != Lock && kind != ShmLock:
		return None
	}

	if how == Locked {
		locked.Store(true)
	}
	return how
}
