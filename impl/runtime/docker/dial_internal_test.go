package docker

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func TestDial_TheEngineOfTheEnvironmentMayBeReachedBySSH(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no program is run
	t.Setenv(client.EnvOverrideHost, "ssh://berth@box")
	address, err := Address("")
	require.NoError(t, err)
	require.Equal(t, "ssh://berth@box", address)
	h, err := New(Config{Owner: "o", Clock: compute.SystemClock{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	require.Equal(t, "ssh://berth@box", h.config.Host, "its ports are reached as those of --docker-host are")
	require.NotContains(t, h.engine.DaemonHost(), "ssh://", "the program speaks to it, and not the client")

	t.Setenv(client.EnvOverrideHost, "ssh://box:port")
	_, err = New(Config{Owner: "o", Clock: compute.SystemClock{}})
	require.ErrorContains(t, err, "docker: ")
}

func TestFault_NamesNoAddress(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 2376}, Err: io.ErrClosedPipe}
	for name, err := range map[string]error{"of a connection": refused, "of a request": &url.Error{Op: "Get", URL: "http://10.0.0.7:2376/info", Err: refused}} {
		got := fault(err)
		require.ErrorIs(t, got, runtime.ErrUnavailable, name)
		require.ErrorIs(t, got, io.ErrClosedPipe, name)
		require.EqualError(t, got, "the runtime does not answer", name)
		require.Equal(t, err, whole(got), name)
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		require.Equal(t, ended, fault(&url.Error{Op: "Get", URL: "http://10.0.0.7:2376/info", Err: ended}))
	}
}

// broken is a connection by a program that has ended, as the library has it.
type broken struct {
	net.Conn
	err    error
	closed bool
}

func (b *broken) Read([]byte) (int, error)  { return 0, b.err }
func (b *broken) Write([]byte) (int, error) { return 0, b.err }

func (b *broken) CloseWrite() error {
	b.closed = true
	return nil
}

func TestOverProgram_ItsErrorsAreThoseOfAConnection(t *testing.T) {
	t.Parallel()
	inner := &broken{err: errors.New("command [ssh -- berth@box docker system dial-stdio] has exited with exit status 255: stderr=no route to box")}
	c := overProgram{inner}
	for op, call := range map[string]func([]byte) (int, error){"read": c.Read, "write": c.Write} {
		_, err := call(nil)
		require.ErrorIs(t, fault(err), runtime.ErrUnavailable, op)
		require.EqualError(t, fault(err), "the runtime does not answer", op)
		require.ErrorContains(t, whole(fault(err)), "no route to box", op)
	}

	var half client.CloseWriter = c
	require.NoError(t, half.CloseWrite())
	require.True(t, inner.closed)
	inner.err = io.EOF
	_, err := io.ReadAll(c)
	require.NoError(t, err, "an end is none")
}

func TestTunnel_ClosesOneDirection(t *testing.T) {
	t.Parallel()
	inner := &broken{}
	require.NoError(t, (&tunnel{Conn: inner}).CloseWrite())
	require.True(t, inner.closed)
	one, other := net.Pipe()
	defer func() { require.NoError(t, errors.Join(one.Close(), other.Close())) }()
	require.ErrorIs(t, (&tunnel{Conn: one}).CloseWrite(), errors.ErrUnsupported)
}
