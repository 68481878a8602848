//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/berthdev/berth/impl/runtime"
)

// followSize gives each new size of the terminal until stop is called.
func followSize(size func() runtime.Size) (sizes <-chan runtime.Size, stop func()) {
	signals, changes, over := make(chan os.Signal, 1), make(chan runtime.Size), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-signals:
			case <-over:
				return
			}
			select {
			case changes <- size():
			case <-over:
				return
			}
		}
	}()
	return changes, func() {
		signal.Stop(signals)
		close(over)
	}
}
