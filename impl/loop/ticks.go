package loop

import "time"

// SweepTick is how late a lease, a timeout or a retention may be noticed.
const SweepTick = 500 * time.Millisecond

// KeepTick is how late what another process or a restart must know may be known to it: keys and request counts.
const KeepTick = time.Second
