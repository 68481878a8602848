package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// TestMigrated_DoesNotWaitForeverForASilentServer: its machine lost the power after it had let the connection in.
func TestMigrated_DoesNotWaitForeverForASilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() {
			server := pgproto3.NewBackend(far, far)
			_, _ = server.ReceiveStartupMessage()
			server.Send(&pgproto3.AuthenticationOk{})
			server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			for err := server.Flush(); err == nil; _, err = server.Receive() { // and says nothing
			}
		}()
		config, err := parse("postgres://berth@127.0.0.1:1/berth?sslmode=disable")
		require.NoError(t, err)
		var dials atomic.Int64
		config.DialFunc = impatient(func(context.Context, string, string) (net.Conn, error) {
			if dials.Add(1) > 1 {
				return nil, net.ErrClosed // nothing else reaches it, either
			}
			return near, nil
		}, silence)

		began := time.Now()
		require.Equal(t, store.Away, troubleOf(migrated(t.Context(), config)))
		require.GreaterOrEqual(t, time.Since(began), silence)
		require.LessOrEqual(t, time.Since(began), 2*silence, "the driver reads once more after the first silence")
		require.NoError(t, far.Close())
	})
}
