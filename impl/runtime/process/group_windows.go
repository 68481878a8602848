package process

import (
	"errors"
	"os"
	"syscall"
)

var errWindows = errors.New("process: this runtime needs process groups and does not run on Windows")

// Supported reports why this runtime cannot run on this system.
func Supported() error { return errWindows }

func signalGroup(int, syscall.Signal) error { return errWindows }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func awaitEnd(p *os.Process, last func()) (*os.ProcessState, error) {
	state, err := p.Wait()
	last()
	return state, err
}

func killLeftovers(string) error { return nil }

func killStrays(string, string) {}
