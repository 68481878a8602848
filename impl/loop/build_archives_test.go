package loop_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func TestBuilds_ArchiveMayBeCompressed(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	s.build = func(_ context.Context, b runtime.Build, emit func(string)) error {
		text, err := io.ReadAll(b.Archive)
		emit(string(text))
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("what is in it"))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	for archive, want := range map[string]string{packed.String(): "what is in it", "as it is": "as it is", "x": "x", "": ""} {
		b := s.await(s.created(archive), compute.BuildCompleted)
		require.Empty(t, b.Error)
		require.Contains(t, s.log(b.ID), "container: "+want)
	}

	cut := s.await(s.created(packed.String()[:5]), compute.BuildFailed)
	require.Contains(t, cut.Error, "the archive cannot be read: ")
}

// log gives the log of a build of the endpoint, each line with its source.
func (s *slip) log(id compute.BuildID) (lines []string) {
	read, err := s.builds.OpenLog(s.Context(), "u", s.endpoint, id, compute.LogQuery{Tail: 1000})
	require.NoError(s, err)
	require.NoError(s, read(s.Context(), func(l compute.LogLine) error {
		lines = append(lines, string(l.Source)+": "+l.Text)
		return nil
	}))
	return lines
}

func TestBuilds_LogSaysWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	begun, goOn := make(chan bool), make(chan bool)
	s.build = func(_ context.Context, _ runtime.Build, emit func(string)) error {
		emit("step 1")
		begun <- true
		<-goOn
		emit("step 2")
		return nil
	}
	id := s.created("")
	<-begun
	read, err := s.builds.OpenLog(t.Context(), "u", s.endpoint, id, compute.LogQuery{Tail: 1000})
	require.NoError(t, err)
	close(goOn)
	want := []string{"system: build is PENDING", "system: build is BUILDING", "container: step 1", "container: step 2", "system: build is COMPLETED"}
	var lines []string
	require.NoError(t, read(t.Context(), func(l compute.LogLine) error {
		lines = append(lines, string(l.Source)+": "+l.Text)
		return nil
	}))
	require.Equal(t, want, lines, "as it is written")
	s.await(id, compute.BuildCompleted)
	require.NoError(t, s.builds.Close())
	s.open()
	require.Equal(t, want, s.log(id), "as it is kept")

	_, err = s.builds.OpenLog(t.Context(), "u", s.endpoint, "unknown", compute.LogQuery{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = s.builds.OpenLog(t.Context(), "another", s.endpoint, id, compute.LogQuery{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

// closing is an archive that notes that it was closed.
type closing struct {
	io.Reader
	closed chan bool
}

func (c *closing) Close() error {
	close(c.closed)
	return nil
}

func TestBuilds_ArchivesAreAskedForLastAndClosed(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	asked := 0
	none := errors.New("the client hung up")
	archive := func() (io.ReadCloser, error) {
		asked++
		return nil, none
	}
	_, err := s.builds.Create(t.Context(), "u", "unknown", archive)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Zero(t, asked, "nobody sends it in vain")
	_, err = s.builds.Create(t.Context(), "u", s.endpoint, archive)
	require.ErrorIs(t, err, none)
	require.Equal(t, 1, asked)

	c := &closing{strings.NewReader(""), make(chan bool)}
	_, err = s.builds.Create(t.Context(), "u", s.endpoint, func() (io.ReadCloser, error) { return c, nil })
	require.NoError(t, err)
	<-c.closed

	c = &closing{strings.NewReader(""), make(chan bool)}
	_, err = s.builds.Create(t.Context(), "u", s.endpoint, func() (io.ReadCloser, error) {
		return c, s.endpoints.Delete(t.Context(), "u", s.endpoint) // in this moment
	})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	<-c.closed
}

func TestBuilds_CancelledOneSaysSo(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	s.build = waiting
	id := s.created("")
	s.await(id, compute.BuildBuilding)
	b, err := s.builds.Cancel(t.Context(), "u", s.endpoint, id)
	require.NoError(t, err)
	require.Equal(t, compute.BuildCancelled, b.Status)
	require.Empty(t, b.Error, "nothing failed")
	require.Equal(t, []string{"system: build is PENDING", "system: build is BUILDING", "system: build is CANCELLED"}, s.log(id))
	_, err = s.builds.Cancel(t.Context(), "another", s.endpoint, id)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}
