//go:build unix

package process

import "syscall"

// Supported reports why this runtime cannot run on this system.
func Supported() error { return nil }

// signalGroup signals every process of the group. The caller makes sure that its leader has not been reaped, since only
// then the number is certain to be the group's still.
func signalGroup(leader int, s syscall.Signal) error { return syscall.Kill(-leader, s) }
