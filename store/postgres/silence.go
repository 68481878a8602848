package postgres

import (
	"cmp"
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/berthdev/berth/impl/compute"
)

// silence is how long the server may say nothing when it was asked something, or take nothing of what it is told: longer than a statement may take. Without an end to it, who
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

// impatientConn is a connection on which a reading or a writing ends after a silence.
type impatientConn struct {
	net.Conn
	silence time.Duration
	by      atomic.Pointer[time.Time] // deadline that was set; nil: none
	writeBy atomic.Pointer[time.Time] // of writing alone, as TLS sets it at its end
}

// mostPiece is how many bytes are written at a time: the server may be silent for each.
const mostPiece = 64 << 10

// SetDeadline keeps the deadline for the readings that follow, too.
func (c *impatientConn) SetDeadline(t time.Time) error {
	c.by.Store(&t)
	if t.IsZero() {
		c.by.Store(nil)
	}
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline keeps the deadline for the writings that follow, too.
func (c *impatientConn) SetWriteDeadline(t time.Time) error {
	c.writeBy.Store(&t)
	if t.IsZero() {
		c.writeBy.Store(nil)
	}
	return c.Conn.SetWriteDeadline(t)
}

func (c *impatientConn) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		if err = c.limitWriting(); err != nil {
			return n, err
		}
		var some int
		some, err = c.Conn.Write(p[:min(len(p), mostPiece)])
		n, p = n+some, p[some:]
	}
	return n, err
}

// limitWriting has the next writing end after a silence, or by the deadline that was set.
func (c *impatientConn) limitWriting() error {
	set := func() *time.Time { return cmp.Or(c.writeBy.Load(), c.by.Load()) }
	if set() != nil {
		return nil
	}
	if err := c.Conn.SetWriteDeadline(compute.SystemClock{}.Now().Add(c.silence)); err != nil {
		return err
	}
	if by := set(); by != nil { // meanwhile
		return c.Conn.SetWriteDeadline(*by)
	}
	return nil
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
