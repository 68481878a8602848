package limit_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/limit"
)

// TestGone_IsKnownBeforeTheContextOfTheRequestEnds: the handler looks without it.
func TestGone_IsKnownBeforeTheContextOfTheRequestEnds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not say so without a read")
	}
	look, gone := make(chan struct{}), make(chan bool)
	bound := limit.NewConnections(4, limit.DefaultSpan)
	server := bound.Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithoutCancel(r.Context()))
		for range look {
			is := limit.Gone(r)
			gone <- is
			if is {
				return
			}
		}
	}))
	plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(bound.Listen(plain)) }()
	defer func() { _ = server.Close() }()
	defer close(look)
	now := func() bool {
		look <- struct{}{}
		return <-gone
	}

	open := func() net.Conn {
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", plain.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		require.NoError(t, err)
		require.False(t, now())
		return client
	}

	client := open()
	require.NoError(t, client.Close())
	require.Eventually(t, now, 10*time.Second, time.Millisecond)

	client = open()
	_, err = io.WriteString(client, strings.Repeat("x", 100_000))
	require.NoError(t, err)
	require.False(t, now(), "what comes early is no end")
	require.NoError(t, client.Close())
	if runtime.GOOS == "linux" {
		require.Eventually(t, now, 10*time.Second, time.Millisecond, "nor does it hide one")
	}
}

func TestGone_IsNotSaidOfARequestWithoutAConnection(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	require.NoError(t, err)
	require.False(t, limit.Gone(r))
	ended, end := context.WithCancel(t.Context())
	end()
	require.True(t, limit.Gone(r.WithContext(ended)))
}
