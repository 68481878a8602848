package main

import (
	"syscall"
	"time"
	"unsafe"
)

// ranFor is the time that all threads of a process have run, in nanoseconds: its clock, see clock_getcpuclockid(3).
func ranFor(pid int) (time.Duration, bool) {
	const scheduled = 2
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|scheduled), uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), errno == 0
}
