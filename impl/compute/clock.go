package compute

import "time"

// Clock is the one source of time. Tests and test controls replace it.
type Clock interface {
	// Now gives the time, in UTC.
	Now() time.Time
	// After gives a channel that receives once d has passed, and a function that gives up on it.
	After(d time.Duration) (<-chan time.Time, func())
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now gives the machine's time, in UTC.
func (SystemClock) Now() time.Time { return time.Now().UTC() }

// After waits on the machine's monotonic clock.
func (SystemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// call calls f once d has passed, unless the function that it gives is called before.
func (SystemClock) call(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
