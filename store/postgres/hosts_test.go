//go:build unix

package postgres_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
)

// TestHosts_SecondIsReachedWhereTheFirstIsSilent has a URL with two hosts, the first of which takes connections and never answers, as a
// machine that is cut off. The writer waits for a connection for so long that it gets to the second one.
func TestHosts_SecondIsReachedWhereTheFirstIsSilent(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, silent.Close()) })
	host, port, err := net.SplitHostPort(silent.Addr().String())
	require.NoError(t, err)

	text, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	both, err := url.Parse(text)
	require.NoError(t, err)
	query := both.Query()
	query.Set("host", host+","+query.Get("host"))
	query.Set("port", port+",5432")
	query.Set("target_session_attrs", "read-write")
	query.Set("sslmode", "disable")
	both.RawQuery = query.Encode()

	db, err := postgres.Open(t.Context(), both.String(), compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(store.Tx) error { return nil }))
	require.NoError(t, db.Close())
}
