package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestSeen_ForgetsWhatTheEngineDoesNotListAsUp(t *testing.T) {
	t.Parallel()
	var s seen
	s.begin(true)
	for _, id := range []string{"a", "b"} {
		_, _, changes := s.get(id)
		s.put(id, runtime.State{Phase: runtime.Up}, changes)
	}
	_, _, before := s.get("c")
	s.retain(map[string]bool{"a": true, "b": false})
	s.put("c", runtime.State{Phase: runtime.Up}, before)

	for id, want := range map[string]bool{"a": true, "b": false, "c": false} {
		_, known, _ := s.get(id)
		require.Equal(t, want, known, id)
	}
}
