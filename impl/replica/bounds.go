package replica

import "sync/atomic"

// What a replica holds at most for clients, whoever they are: their keys are the owner's to check.
const (
	mostKept     = 64 << 10 // bytes of a body that are kept, to send it again; a longer one is sent once
	mostKeptHere = 32 << 20 // bytes of all bodies that are kept; what comes on top is sent once
	mostWaiting  = 2048     // requests that wait for an owner; one more is asked at once to try again
)

// bound is how much of something there may be.
type bound struct {
	most int64
	now  atomic.Int64
}

// take takes so much of it, if there is as much.
func (b *bound) take(n int) bool {
	if b.now.Add(int64(n)) > b.most {
		b.give(n)
		return false
	}
	return true
}

// give gives it back.
func (b *bound) give(n int) { b.now.Add(-int64(n)) }
