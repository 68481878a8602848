//go:build unix

package limit

import (
	"math"

	"golang.org/x/sys/unix"
)

// openFiles is how many files the process may have open; 0: nobody knows.
func openFiles() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return int(min(uint64(l.Cur), math.MaxInt32)) //nolint:unconvert // the type differs between systems
}
