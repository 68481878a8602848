package limit_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestArchives_AreBoundedInNumberAndSize(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archives")
	a, err := limit.NewArchives(dir, 10, 2)
	require.NoError(t, err)
	for _, length := range []int64{-1, 11} {
		_, err = a.Read("u", strings.NewReader("12345678901"), length)
		require.ErrorIs(t, err, limit.ErrTooLarge)
	}

	first, err := a.Read("u", strings.NewReader("1234567890"), -1)
	require.NoError(t, err)
	text, err := io.ReadAll(first)
	require.NoError(t, err)
	require.Equal(t, "1234567890", string(text))
	_, err = a.Read("u", strings.NewReader(""), 0)
	require.ErrorIs(t, err, limit.ErrBusy, "the other one is for others")
	_, err = a.Read("v", strings.NewReader(""), 0)
	require.NoError(t, err)
	_, err = a.Read("w", strings.NewReader(""), 0)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.ErrorIs(t, err, limit.ErrBusy)

	require.NoError(t, first.Close())
	_, err = a.Read("u", strings.NewReader(""), 0)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "a file has no name")
}
