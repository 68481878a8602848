// Package runtimes is the list of the runtimes that berth is built with: each registers itself when it is imported here, and is
// imported nowhere else but in its own tests. A further one is one more line.
package runtimes

import (
	_ "github.com/berthdev/berth/impl/runtime/docker"
	_ "github.com/berthdev/berth/impl/runtime/kubernetes"
	_ "github.com/berthdev/berth/impl/runtime/process"
	_ "github.com/berthdev/berth/impl/runtime/sim"
)
