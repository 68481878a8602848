//go:build unix

package main

import "syscall"

// openFiles is how many files this process may have open; Go has raised it as far as it may.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(min(l.Cur, 1<<20))
}
