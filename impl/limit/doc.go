// Package limit bounds what clients can make a server hold: connections, the memory of bodies and of answers, files, and the
// processor time of those who send no key. Time is bounded by progress, not by length: a client that goes on sending or
// taking is served for as long as that lasts, one that stalls is cut off.
package limit

import "time"

// piece is how many bytes a client that the server waits for sends, or takes, in every span (rules bounds.uploads,
// bounds.readers).
const piece = 64 << 10

// DefaultSpan makes the least rate a tenth of what a slow mobile network has.
const DefaultSpan = 20 * time.Second

// The time that a connection has for what is no body and no answer.
const (
	// headerSpan is how long the header of a request may take.
	headerSpan = 10 * time.Second
	// idleSpan is how long a connection is kept that has no request: longer than clients and proxies keep theirs, so that none
	// of them sends a request on one that has just been closed.
	idleSpan = 2 * time.Minute
	// refusedSpan is how long what a refused request still sends is read, so that its client sees the answer.
	refusedSpan = 2 * time.Second
)
