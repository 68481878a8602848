package postgres

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestImpatient_DoesNotWaitForeverForASilentServer(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	dial := func(context.Context, string, string) (net.Conn, error) { return near, nil }
	c, err := impatient(dial, time.Millisecond)(t.Context(), "", "")
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	_, err = c.Write([]byte("a"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "it takes nothing, either")

	c.(*impatientConn).silence = time.Hour
	go func() { _, _ = far.Write([]byte("a")) }()
	_, err = c.Read(make([]byte, 1))
	require.NoError(t, err, "the next answer is waited for")

	require.NoError(t, c.SetDeadline(time.Now()))
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a deadline is kept")
	_, err = c.Write([]byte("a"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "for writing, too")
	require.NoError(t, c.SetDeadline(time.Time{}))

	require.NoError(t, c.SetWriteDeadline(time.Now()))
	_, err = c.Write([]byte("a"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, c.SetWriteDeadline(time.Time{}))
	go func() { _, _ = io.ReadFull(far, make([]byte, 3*mostPiece)) }()
	n, err := c.Write(make([]byte, 3*mostPiece))
	require.NoError(t, err)
	require.Equal(t, 3*mostPiece, n)
}
