package runtime

import (
	"context"
	"net"
	"time"
)

// DialTime is how long a connection to what listens in an allocation may take.
const DialTime = 5 * time.Second

// Dialer reaches what listens in allocations by other means than the network.
type Dialer interface {
	// Dial connects to the Via of a published port of any allocation of the runtimes of this kind, and to another address as net.Dialer does.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial gives how what listens in allocations of a runtime is reached.
func Dial(on any) func(ctx context.Context, network, address string) (net.Conn, error) {
	if d, is := on.(Dialer); is {
		return d.Dial
	}
	return (&net.Dialer{Timeout: DialTime}).DialContext
}
