//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// attributes make the process the leader of its own group. Here nothing kills it when berth dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd waits for the process and then calls last. Between the two the pid is free for a moment: a new group could have
// it if the system had used up all other numbers in that time.
func awaitEnd(p *os.Process, last func()) (*os.ProcessState, error) {
	state, err := p.Wait()
	last()
	return state, err
}

// killLeftovers does nothing: the environment of other processes cannot be read here.
func killLeftovers(string) error { return nil }

// killStrays does nothing, for the same reason.
func killStrays(string, string) {}
