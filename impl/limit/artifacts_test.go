package limit_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

const (
	oneArtifact compute.FlashBuildID = "k3m9x2m4p6q8f1"
	twoArtifact compute.FlashBuildID = "k3m9x2m4p6q8f2"
	zipped                           = "\x1f\x8bzipped"
)

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

func kept(keep func() error) error { return keep() }

func TestArtifacts_AreWholeOrNotThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "artifacts")
	a := limit.NewArtifacts(dir, 2)
	require.False(t, a.Has(oneArtifact))
	require.NoError(t, a.Keep(nil), "there is no directory yet")

	for _, body := range []io.Reader{strings.NewReader(zipped + "x"), strings.NewReader(zipped[1:]), strings.NewReader("unzipped"), strings.NewReader("")} {
		require.Equal(t, compute.Rejected, compute.CodeOf(a.Receive("u", oneArtifact, body, int64(len(zipped)), kept)))
	}
	broken, end := io.Pipe()
	go func() { _ = end.CloseWithError(io.ErrUnexpectedEOF) }()
	require.ErrorIs(t, a.Receive("u", oneArtifact, broken, 8, kept), io.ErrUnexpectedEOF)
	require.Empty(t, names(t, dir), "nothing is left of what failed")

	for range 2 {
		require.NoError(t, a.Receive("u", oneArtifact, strings.NewReader(zipped), int64(len(zipped)), kept))
	}
	refused := errors.New("it is finalized")
	err := a.Receive("u", oneArtifact, strings.NewReader("\x1f\x8bOTHER"), 7, func(func() error) error { return refused })
	require.ErrorIs(t, err, refused)
	require.True(t, a.Has(oneArtifact))
	require.Equal(t, []string{string(oneArtifact)}, names(t, dir))
	file, err := a.Open(oneArtifact)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Equal(t, zipped, string(text))

	_, err = a.Open(twoArtifact)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.False(t, a.Has("../secret.key"), "ids come from clients")
}

func TestArtifacts_OnlyKnownOnesAndThoseThatComeAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := limit.NewArtifacts(dir, 1)
	require.NoError(t, a.Receive("u", oneArtifact, strings.NewReader(zipped), int64(len(zipped)), kept))
	require.NoError(t, a.Receive("u", twoArtifact, strings.NewReader(zipped), int64(len(zipped)), kept))
	require.NoError(t, os.WriteFile(filepath.Join(dir, string(oneArtifact)+".part-7"), nil, 0o600), "as a crash leaves it")

	body, sent := io.Pipe()
	came := make(chan error)
	go func() { came <- a.Receive("u", "k3m9x2m4p6q8f3", body, int64(len(zipped)), kept) }()
	_, err := io.WriteString(sent, zipped[:4])
	require.NoError(t, err)
	require.ErrorIs(t, a.Receive("u", oneArtifact, strings.NewReader(zipped), int64(len(zipped)), kept), limit.ErrBusy)

	require.NoError(t, a.Keep(func() ([]compute.FlashBuildID, error) { return []compute.FlashBuildID{oneArtifact}, nil }))
	require.Len(t, names(t, dir), 2, "one is known, one comes")
	_, err = io.WriteString(sent, zipped[4:])
	require.NoError(t, err)
	require.NoError(t, sent.Close())
	require.NoError(t, <-came)
	require.True(t, a.Has("k3m9x2m4p6q8f3"))

	require.ErrorIs(t, a.Keep(func() ([]compute.FlashBuildID, error) { return nil, os.ErrClosed }), os.ErrClosed)
	require.True(t, a.Has(oneArtifact), "what is known could not be asked")
}
