package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/berthdev/berth/impl/compute"
)

// watched is a start that records its phases and what is undone.
type watched struct {
	Config
	phases, undone []string
	fail           string // the phase that fails
}

var errPhase = errors.New("this phase fails")

func newWatched(t *testing.T) *watched {
	w := &watched{Config: Config{
		Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", QueueListen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Docs: true,
		TestControls: true, TracesEndpoint: "http://127.0.0.1:1", Endpoints: []Endpoint{{Name: "own"}, {Name: "sleep", Command: []string{"sleep", "1000"}}},
	}}
	w.probe.passed = func(phase string) error {
		w.phases = append(w.phases, phase)
		if phase == w.fail {
			return errPhase
		}
		return nil
	}

	w.probe.undone = func(step string) { w.undone = append(w.undone, step) }
	return w
}

// order is how what a start makes is undone.
var order = []string{
	"loops", "requests", "pods", "metrics", "traces of jobs", "sessions", "key of the test controls", "contexts", "builds", "connections of webhooks", "secret", "runtime of workers", "runtime of pods", "local runtime",
	"request counts", "first key", "refusals", "clock", "changes", "store", "fleet", "traces", "addresses", "data directory",
}

func TestStart_FailedPhaseUndoesThoseBefore(t *testing.T) {
	whole := newWatched(t)
	s, err := Start(t.Context(), whole.Config)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	lasts := slices.DeleteFunc(slices.Clone(order), func(step string) bool { return step == "first key" || step == "key of the test controls" })
	require.Equal(t, lasts, whole.undone, "Close undoes all but the keys")
	require.NoError(t, s.Close(), "and only once")

	for _, phase := range whole.phases {
		t.Run(phase, func(t *testing.T) {
			ignored := goleak.IgnoreCurrent()
			w := newWatched(t)
			w.Listen, w.QueueListen, w.MetricsListen = "127.0.0.1:"+FreePort(t), "127.0.0.1:"+FreePort(t), "127.0.0.1:"+FreePort(t)
			w.fail = phase
			_, err := Start(t.Context(), w.Config)
			require.ErrorIs(t, err, errPhase)
			require.Equal(t, phase, w.phases[len(w.phases)-1], "nothing follows")
			require.Equal(t, append([]string{}, order[len(order)-len(w.undone):]...), append([]string{}, w.undone...), "the last first")

			goleak.VerifyNone(t, ignored)

			w.fail = ""
			s, err := Start(t.Context(), w.Config) // the addresses and the directory are free
			require.NoError(t, err)
			require.NotEmpty(t, s.FirstKey(), "a key that nobody has seen is gone")
			require.Len(t, ownKeys(s), 1)
			require.NoError(t, s.Close())
			goleak.VerifyNone(t, ignored)
		})
	}
}

// ownKeys are the keys that somebody has seen.
func ownKeys(s *Server) []compute.Key {
	return slices.DeleteFunc(s.current().keyring.Keys(false), func(k compute.Key) bool { return k.Allows(compute.ScopeControls) || k.WorkerID != "" })
}

func TestUndo_GoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	var u undo
	var done []int
	for i := range 3 {
		u.push("", func() error {
			done = append(done, i)
			return os.ErrInvalid
		})
	}

	u.pushOnFailure("", func() error { panic("it is of failed starts alone") })
	require.ErrorIs(t, u.all(false), os.ErrInvalid)
	require.Equal(t, []int{2, 1, 0}, done)
	require.NoError(t, u.all(false))
}
