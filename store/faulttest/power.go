package faulttest

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sector is how many bytes a disk writes whole.
const sector = 512

// inode is a file or a directory, whatever its names are.
type inode struct {
	dir   bool
	base  []byte // on disk
	later []change
}

// change is a write, or without data a cut to a length, that came after base.
type change struct {
	at      int64
	data    []byte
	certain bool // on disk, if all that came before is
	lost    bool // a sync failed over it: the system takes it for written, and never writes it again
}

// naming is a change of names: from is gone, and to is the inode. Either may be empty.
type naming struct {
	from, to string
	inode    *inode
}

func (n naming) in(dir string) bool {
	return n.from != "" && filepath.Dir(n.from) == dir || n.to != "" && filepath.Dir(n.to) == dir
}

func (n naming) apply(names map[string]*inode) {
	delete(names, n.from)
	if n.to != "" {
		names[n.to] = n.inode
	}
}

func (c change) apply(b []byte) []byte {
	if c.data == nil {
		if int64(len(b)) > c.at {
			return b[:c.at]
		}
		return append(b, make([]byte, c.at-int64(len(b)))...)
	}
	if end := c.at + int64(len(c.data)); int64(len(b)) < end {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[c.at:], c.data)
	return b
}

// renamed notes a change of names.
func (d *Disk) renamed(n naming) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.to != "" && n.inode == nil {
		n.inode = d.current[n.from]
	}
	n.apply(d.current)
	d.names = append(d.names, n)
}

// opened gives the inode of a path, and makes one if there is none.
func (d *Disk) opened(path string) *inode {
	d.mu.Lock()
	n := d.current[path]
	d.mu.Unlock()
	if n == nil {
		n = &inode{}
		d.renamed(naming{to: path, inode: n})
	}
	return n
}

// wrote notes a write, or without data a cut.
func (d *Disk) wrote(n *inode, at int64, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n.later = append(n.later, change{at: at, data: data})
}

// synced notes that all that was written is on disk.
func (d *Disk) synced(n *inode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lying {
		return
	}
	for i := range n.later {
		n.later[i].certain = !n.later[i].lost
	}
	for len(n.later) > 0 && n.later[0].certain {
		n.base = n.later[0].apply(n.base)
		n.later = n.later[1:]
	}
}

// unsynced notes that a sync failed. What it was for may never be written, however many syncs come after it.
func (d *Disk) unsynced(n *inode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range n.later {
		n.later[i].lost = !n.later[i].certain
	}
}

// syncedNames notes that the names in a directory are on disk.
func (d *Disk) syncedNames(dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lying {
		return
	}
	d.names = slices.DeleteFunc(d.names, func(n naming) bool {
		if n.in(dir) {
			n.apply(d.certain)
			return true
		}
		return false
	})
}

// Loss is what is left of that which was not synced.
type Loss int

// The losses.
const (
	Everything Loss = iota // nothing of it is left
	Nothing                // all of it is
	Some                   // any part, torn at sectors; changes of names happen in their order
)

// Loses writes what is left if the power fails now into a directory, as root's tree.
func (d *Disk) Loses(t testing.TB, into string, loss Loss, rng *rand.Rand) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()

	names := maps.Clone(d.certain)
	kept := len(d.names)
	switch loss {
	case Everything:
		kept = 0
	case Some:
		kept = rng.IntN(kept + 1)
	case Nothing:
	}

	for _, n := range d.names[:kept] {
		n.apply(names)
	}

	for _, path := range slices.Sorted(maps.Keys(names)) { // a directory comes before what is in it
		relative, err := filepath.Rel(d.root, path)
		require.NoError(t, err)
		target := filepath.Join(into, relative)
		if _, err := os.Stat(filepath.Dir(target)); err != nil {
			continue // its directory is lost
		}
		if names[path].dir {
			require.NoError(t, os.Mkdir(target, 0o700))
			continue
		}

		require.NoError(t, os.WriteFile(target, names[path].left(loss, rng), 0o600))
	}
}

// left gives the content that a loss of power leaves.
func (n *inode) left(loss Loss, rng *rand.Rand) []byte {
	b := slices.Clone(n.base)
	all := true // of what is not certain, which is all or nothing of it in half of the cases
	cut := len(n.later)

	torn := false
	if loss == Some {
		switch rng.IntN(4) {
		case 0:
			all = false
		case 1:
		case 2:
			cut = rng.IntN(cut + 1)
		case 3:
			torn = true
		}
	}

	for i, c := range n.later {
		switch {
		case c.certain:
		case loss == Everything, loss == Some && (!all || i >= cut || c.lost && rng.IntN(2) == 0 || torn && rng.IntN(2) == 0):
			continue
		case torn && len(c.data) > sector && rng.IntN(2) == 0:
			c.data = c.data[:sector*rng.IntN(len(c.data)/sector+1)]
		}
		b = c.apply(b)
	}

	return b
}
