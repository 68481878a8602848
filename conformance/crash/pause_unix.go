//go:build unix

package main

import (
	"os"
	"syscall"
)

// canPause reports whether a process can be paused here.
const canPause = true

func stopProcess(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func continueProcess(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
