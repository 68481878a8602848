package gateway

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/shell"
)

// noPods are the pods of a gateway in which every command is refused, and so ends at once.
type noPods struct{}

func (noPods) GetPod(context.Context, compute.UserID, compute.PodID) (compute.Pod, error) {
	return compute.Pod{}, compute.Errorf(compute.NotFound, "no such pod")
}

// cuttable is a connection that notes whether it was closed.
type cuttable struct {
	ssh.Conn
	cut atomic.Bool
}

func (c *cuttable) Close() error {
	c.cut.Store(true)
	return nil
}

// undrained is a channel of a client that has not taken what came yet, and so does not close its side.
type undrained struct {
	ssh.NewChannel
	ssh.Channel
	kind     string
	asks     []byte
	requests chan *ssh.Request
	closed   atomic.Bool
}

func (u *undrained) ChannelType() string                               { return u.kind }
func (u *undrained) ExtraData() []byte                                 { return u.asks }
func (u *undrained) Accept() (ssh.Channel, <-chan *ssh.Request, error) { return u, u.requests, nil }
func (u *undrained) SendRequest(string, bool, []byte) (bool, error)    { return true, nil }
func (u *undrained) Stderr() io.ReadWriter                             { return struct{ io.ReadWriter }{u} }
func (u *undrained) Read([]byte) (int, error)                          { return 0, io.EOF }
func (u *undrained) Write(text []byte) (int, error)                    { return len(text), nil }

func (u *undrained) Close() error {
	u.closed.Store(true)
	return nil
}

// TestConnection_LastsWhileAClientDrains: a client closes a channel once it has taken the output, which somebody may be reading page by page.
func TestConnection_LastsWhileAClientDrains(t *testing.T) {
	t.Parallel()
	for _, opened := range []*undrained{
		{kind: "session"},
		{kind: "direct-tcpip", asks: ssh.Marshal(struct {
			Host   string
			Port   uint32
			Origin string
			From   uint32
		}{Host: "localhost", Port: 8888})},
	} {
		synctest.Test(t, func(t *testing.T) {
			opened.requests = make(chan *ssh.Request, 1)
			if opened.kind == "session" {
				opened.requests <- &ssh.Request{Type: "exec", Payload: ssh.Marshal(struct{ Command string }{"true"})}
			}
			log, conn := slog.New(slog.DiscardHandler), &cuttable{}
			shells := shell.New(shell.Config{Pods: noPods{}, Ending: t.Context(), Clock: compute.SystemClock{}, Log: log})
			c := &connection{Gateway: &Gateway{Config: Config{Shells: shells, Clock: compute.SystemClock{}, Log: log}}, conn: &ssh.ServerConn{Conn: conn}, pod: "a"}
			channels := make(chan ssh.NewChannel, 1)
			channels <- opened
			close(channels)
			c.serve(t.Context(), channels)

			time.Sleep(time.Hour)
			require.True(t, opened.closed.Load(), "the command has ended")
			require.False(t, conn.cut.Load(), "others may use the connection: %s", opened.kind)
			require.False(t, c.channels.Enter("", 1, 1), "what the client sends on it takes room still")

			close(opened.requests) // the client has closed it, or the connection has ended
			c.running.Wait()
			require.True(t, c.channels.Enter("", 1, 1))
		})
	}
}

// TestGateway_ClientThatDoesNotAnswerIsCutOff: else channels that such a client does not close would stay for ever.
func TestGateway_ClientThatDoesNotAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	g := openGate(t, func(line string) podsBy {
		return func() ([]string, error) { return []string{line}, nil }
	})
	go func() {
		for range g.limits { // nobody looks at them here
		}
	}()
	conn, _, asked, err := g.shake()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return g.clock.Waiting().Asleep > 0 }, 10*time.Second, time.Millisecond)
	g.clock.Advance(aliveTick)
	require.True(t, (<-asked).WantReply)

	require.GreaterOrEqual(t, g.lasts(t, conn), aliveTime)
}
