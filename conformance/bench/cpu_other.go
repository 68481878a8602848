//go:build !linux

package main

import "time"

// ranFor is known only on Linux.
func ranFor(int) (time.Duration, bool) { return 0, false }
