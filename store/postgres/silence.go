package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/berthdev/berth/impl/compute"
)

// silence is how long the server may say nothing when it was asked something: longer than a statement may take. Without an end to it, who
// waits for a machine that lost its power waits for as long as the system sends again what nobody acknowledges: a quarter of an hour.
const silence = 35 * time.Second

// impatient gives a function that opens connections as dial does, on which silence ends.
func impatient(dial pgconn.DialFunc, silence time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &impatientConn{Conn: c, silence: silence}, nil
	}
}

// impatientConn is a connection on which a reading ends after a silence.
type impatientConn struct {
	net.Conn
	silence time.Duration
	by      atomic.Pointer[time.Time] // deadline that was set; nil: none
}

// SetDeadline keeps the deadline for the readings that follow, too.
func (c *impatientConn) SetDeadline(t time.Time) error {
	c.by.Store(&t)
	if t.IsZero() {
		c.by.Store(nil)
	}
	return c.Conn.SetDeadline(t)
}

func (c *impatientConn) Read(p []byte) (int, error) {
	if c.by.Load() == nil {
		if err := c.SetReadDeadline(compute.SystemClock{}.Now().Add(c.silence)); err != nil {
			return 0, err
		}
		if by := c.by.Load(); by != nil { // set meanwhile
			if err := c.SetReadDeadline(*by); err != nil {
				return 0, err
			}
		}
	}
	return c.Conn.Read(p)
}
