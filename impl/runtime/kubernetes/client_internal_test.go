package kubernetes

import (
	"net"
	"net/url"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// Users read why their pods do not go on.
func TestUnreachable_NamesNoAddress(t *testing.T) {
	t.Parallel()
	dial := func(cause error) error {
		at := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6443}
		return &url.Error{Op: "Get", URL: "https://10.0.0.7:6443/api", Err: &net.OpError{Op: "dial", Net: "tcp", Addr: at, Err: cause}}
	}
	err := unreachable("read a log", dial(syscall.ECONNREFUSED))
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.EqualError(t, err, "the runtime does not answer: kubernetes: read a log: "+syscall.ECONNREFUSED.Error())
	err = unreachable("read a log", dial(&net.DNSError{Err: "no such host", Name: "cluster.internal", Server: "10.0.0.2:53"}))
	require.EqualError(t, err, "the runtime does not answer: kubernetes: read a log: no such host")
}
