package docker

import (
	"context"
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
