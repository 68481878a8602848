//go:build !linux

package main

import "time"

// exact does what can be done only on Linux.
func exact() {}

// pause sleeps for a while.
func pause(d time.Duration) { time.Sleep(d) }
