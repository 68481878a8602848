//go:build !linux

// Package pause stops a thread for times that a timer of Go is too coarse for.
package pause

import "time"

// Exact does what can be done only on Linux.
func Exact() {}

// For sleeps for a while.
func For(d time.Duration) { time.Sleep(d) }
