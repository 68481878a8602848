package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// heapFloor is address space, in bytes, that is never touched and so takes no memory. The collector counts it as live: it runs
// once as much garbage is there, in place of once the small live heap of a server has doubled, 20 times a second under load;
// /run takes 0.8 of the processor time. A factor (GOGC) would grow with a million waiting jobs; this does not.
const heapFloor = 64 << 20

// holdTime is how long the collector is held back at the start. A start is over by then, unless the database is large.
const holdTime = 100 * time.Millisecond

// holdCollector has nothing collected while the process starts and its first request waits. What starting took is given back
// after that.
var holdCollector = sync.OnceFunc(func() {
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(holdTime, func() {
		debug.SetGCPercent(percent)
		debug.FreeOSMemory()
		unmapProgram()
	})
})

// calmMemory is how many bytes the process may have, with the floor, before the collector runs more often: what clients can make
// a server hold is bounded, and the garbage of it is not to come on top. Less would cost time under an ordinary load.
const calmMemory = heapFloor + 176<<20

// boundGarbage has the collector keep to calmMemory, or if more than that is in use, as it is with a million waiting jobs, to half
// as much again. Who sets GOMEMLIMIT decides alone.
func boundGarbage() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(calmMemory)
	debug.SetMemoryLimit(limit)
	type collected struct{ _ [16]byte } // one of its own: small objects without pointers share

	var look func(*collected)
	look = func(again *collected) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := max(calmMemory, int64(live[0].Value.Uint64())*3/2)
		if next > limit+limit/10 || next < limit-limit/10 {
			limit = next
			debug.SetMemoryLimit(limit)
		}
		runtime.SetFinalizer(again, look) // until it is collected anew
	}

	runtime.SetFinalizer(&collected{}, look)
}
