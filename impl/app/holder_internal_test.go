package app

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
)

// holding starts a server with a saved state and a key that is newer than that. As many services fail to begin as failures says.
func holding(t *testing.T) (s *Server, failures *atomic.Int32) {
	failures = &atomic.Int32{}
	c := Config{Data: t.TempDir(), Listen: "127.0.0.1:0", TestControls: true}
	c.probe.passed = func(phase string) error {
		if phase == "clock" && failures.Add(-1) >= 0 {
			return errPhase
		}
		return nil
	}
	s, err := Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	require.NoError(t, s.SaveState(t.Context(), "first"))
	_, _, err = s.CreateKey(t.Context(), control.NewKey{UserID: owner, Name: "later"})
	require.NoError(t, err)
	return s, failures
}

// ready gives what the server answers to whether it is ready.
func ready(t *testing.T, s *Server) int {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func TestHolder_BeginsAgainAfterALoadInWhichNothingBegan(t *testing.T) {
	t.Parallel()
	s, failures := holding(t)
	failures.Store(3) // of the state, of what there was before, and of that once more
	require.ErrorIs(t, s.LoadState(t.Context(), "first"), errPhase)
	require.Equal(t, http.StatusServiceUnavailable, ready(t, s))

	require.Eventually(t, func() bool { return ready(t, s) == http.StatusOK }, 20*time.Second, 50*time.Millisecond)
	require.Len(t, ownKeys(s), 2, "with what there was before")
	require.NoError(t, s.LoadState(t.Context(), "first"))
	require.Len(t, ownKeys(s), 1, "and a state can be loaded")
}

func TestHolder_TimeGoesOnAfterALoadInWhichNothingBegan(t *testing.T) {
	t.Parallel()
	s, failures := holding(t)
	before := s.Clock().Now()
	failures.Store(1)
	require.ErrorIs(t, s.LoadState(t.Context(), "first"), errPhase)
	require.WithinDuration(t, before, s.Clock().Now(), time.Minute)
	require.False(t, s.Clock().Frozen())

	s.Clock().Freeze()
	s.Clock().Advance(time.Hour)
	before = s.Clock().Now()
	failures.Store(1)
	require.ErrorIs(t, s.LoadState(t.Context(), "first"), errPhase)
	require.Equal(t, before, s.Clock().Now())
	require.True(t, s.Clock().Frozen())
}

func TestHolder_ClosesWhileItTriesToBegin(t *testing.T) {
	t.Parallel()
	s, failures := holding(t)
	failures.Store(1000)
	require.ErrorIs(t, s.LoadState(t.Context(), "first"), errPhase)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.LoadState(t.Context(), "first"), errNotOwner)
}

func TestHolder_LoadsThatComeTogetherFollowOneAnother(t *testing.T) {
	t.Parallel()
	s, _ := holding(t)
	c, err := s.controls()
	require.NoError(t, err)
	var loads sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		loads.Go(func() { errs[i] = c.LoadState(t.Context(), "first") })
	}
	loads.Wait()
	require.Equal(t, make([]error, 2), errs)
}

func TestHolder_DatabaseStaysWithItsLogWhereARenameFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	before := path + beforeLoad
	require.NoError(t, os.WriteFile(path+"-wal", []byte("log"), 0o600))
	require.Error(t, setAside(path, before), "there is no database")
	require.FileExists(t, path+"-wal")

	require.NoError(t, os.Rename(path+"-wal", before+"-wal"))
	require.NoError(t, os.WriteFile(before, []byte("database"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(path+"-wal", "in the way"), 0o700))
	require.Error(t, setBack(before, path))
	require.FileExists(t, before)
	require.FileExists(t, before+"-wal")

	require.NoError(t, os.RemoveAll(path+"-wal"))
	require.NoError(t, setBack(before, path), "and the next time")
	require.FileExists(t, path)
	require.FileExists(t, path+"-wal")
}

func TestHolder_WhatWasThereBeforeIsGoneOnceAnotherDatabaseIsThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	for _, file := range []string{path, path + beforeLoad, path + beforeLoad + "-wal"} {
		require.NoError(t, os.WriteFile(file, []byte("database"), 0o600))
	}
	require.NoError(t, takeBack(path), "a load was cut off at its end")
	require.FileExists(t, path)
	require.NoFileExists(t, path+beforeLoad)
	require.NoFileExists(t, path+beforeLoad+"-wal")
}
