package limit_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// stalling is a body of which the head comes, and then nothing until it is cut.
type stalling struct {
	head io.Reader
	cut  chan struct{}
}

var errCut = errors.New("cut")

func (s stalling) Read(p []byte) (int, error) {
	if n, err := s.head.Read(p); err == nil {
		return n, nil
	}
	<-s.cut
	return 0, errCut
}

func bodies(t *testing.T) (*limit.Bodies, string) {
	dir := filepath.Join(t.TempDir(), "bodies")
	b, err := limit.NewBodies(dir, 20*time.Second)
	require.NoError(t, err)
	return b, dir
}

func TestBodies_ComeAsTheyWereSent(t *testing.T) {
	t.Parallel()
	b, dir := bodies(t)
	full, _, err := b.Read(t.Context(), "full", bytes.NewReader(make([]byte, 20_000_000)), 20_000_000, 20_000_000)
	require.NoError(t, err)
	require.Len(t, full, 20_000_000)

	for _, size := range []int{0, 1, 4096, 4097, 65_536, 65_537, 1_000_000, 19_999_999, 20_000_000} {
		want := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		for _, key := range []compute.KeyID{"free", "full"} { // of which one has no memory left, and needs a file
			for _, length := range []int64{int64(size), -1} {
				got, leave, err := b.Read(t.Context(), key, bytes.NewReader(want), length, 20_000_000)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got), "%d bytes, length %d", size, length)
				leave()
			}
		}
	}

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestBodies_AreRefusedForTheirLengthOrEnd(t *testing.T) {
	t.Parallel()
	b, _ := bodies(t)
	for _, size := range []int64{5_000, 100_000} {
		_, _, err := b.Read(t.Context(), "a", strings.NewReader(""), size+1, size)
		require.ErrorIs(t, err, limit.ErrTooLarge, "by the length that is declared")
		_, _, err = b.Read(t.Context(), "a", bytes.NewReader(make([]byte, size+1)), -1, size)
		require.ErrorIs(t, err, limit.ErrTooLarge)

		_, _, err = b.Read(t.Context(), "a", bytes.NewReader(make([]byte, size-1)), size, size)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		cut := stalling{bytes.NewReader(make([]byte, size/2)), make(chan struct{})}
		close(cut.cut)
		for _, length := range []int64{size, -1} {
			_, _, err = b.Read(t.Context(), "a", cut, length, size)
			require.ErrorIs(t, err, errCut)
		}
	}

	// The end of what comes in pieces is io.EOF alone: one that was cut off among them gives io.ErrUnexpectedEOF.
	_, _, err := b.Read(t.Context(), "a", io.MultiReader(strings.NewReader("{}"), iotest.ErrReader(io.ErrUnexpectedEOF)), -1, 1<<20)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	_, leave, err := b.Read(t.Context(), "a", bytes.NewReader(make([]byte, 20_000_000)), 20_000_000, 20_000_000)
	require.NoError(t, err, "what was refused holds nothing")
	leave()
}

func TestBodies_StalledOnesHoldUpNobody(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bodies")
	synctest.Test(t, func(t *testing.T) {
		b, err := limit.NewBodies(dir, 20*time.Second)
		require.NoError(t, err)
		cut, ended := make(chan struct{}), make(chan error, 300)
		for range 300 {
			go func() {
				_, _, err := b.Read(t.Context(), "bad", stalling{strings.NewReader("{"), cut}, 20_000_000, 20_000_000)
				ended <- err
			}()
		}

		synctest.Wait()

		read := func(key compute.KeyID, size int64) (func(), error) {
			text, leave, err := b.Read(t.Context(), key, bytes.NewReader(make([]byte, size)), size, 64_000_000)
			require.Len(t, text, int(size))
			return leave, err
		}

		start := time.Now()
		for _, size := range []int64{1_000, 1_000_000, 20_000_000, 64_000_000} {
			leave, err := read("good", size)
			require.NoError(t, err)
			leave()
		}

		require.Zero(t, time.Since(start), "another key is served at once")

		pause(20 * time.Second) // fake
		synctest.Wait()
		require.NotEmpty(t, ended, "who waits for a place is refused after a while")
		err = <-ended
		require.ErrorIs(t, err, limit.ErrBusy)

		close(cut)
		leave, err := read("bad", 20_000_000)
		require.NoError(t, err)
		leave()
	})
}

func TestBodies_AreUnavailableWithoutTheirDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bodies")
	b, err := limit.NewBodies(dir, time.Second)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // in place of the directory
	_, _, err = b.Read(t.Context(), "a", bytes.NewReader(make([]byte, 100_000)), -1, 1_000_000)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
}

func TestBodies_RemoveWhatAnotherProcessLeft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bodies")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "body-1"), nil, 0o600))
	_, err := limit.NewBodies(dir, time.Second)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, "body-1"))
}
