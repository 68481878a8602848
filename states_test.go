package berth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestServer_StatesAreLoadedInPlace(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
	id := pod(t, s)
	require.NoError(t, s.SaveState(t.Context(), "first"))
	status, _ := call(t, "DELETE", s.URL()+"/v2/pods/"+id, s.Key(), "")
	require.Equal(t, 204, status)

	clock := s.Clock()
	require.NoError(t, s.LoadState(t.Context(), "first"))
	status, _ = call(t, "GET", s.URL()+"/v2/pods/"+id, s.Key(), "")
	require.Equal(t, 200, status)
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"], "its workers go on")
	before := clock.Now()
	require.NoError(t, clock.Advance(t.Context(), 3600_000_000_000))
	require.GreaterOrEqual(t, clock.Now().Sub(before).Hours(), 1.0, "it is the clock of the server that there is now")

	all, err := s.States(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, s.DeleteState(t.Context(), all[0].Name))
	require.ErrorContains(t, s.LoadState(t.Context(), "first"), "there is no state")
	require.ErrorContains(t, s.SaveState(t.Context(), "../first"), "name")
}

// A state has the keys that there were: the program's own is one of them again after each load.
func TestServer_StateOfAnEarlierProgramIsServedByThisOne(t *testing.T) {
	t.Parallel()
	o := berth.Options{Dir: t.TempDir(), Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}}
	first, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, first.SaveState(t.Context(), "base"))
	require.NoError(t, first.Close())

	second, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, second.Close())
	s, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	status, _ := call(t, "GET", s.URL()+"/v2/pods", second.Key(), "")
	require.Equal(t, 401, status, "it went with its program")
	require.NoError(t, s.LoadState(t.Context(), "base"))
	status, _ = call(t, "GET", s.URL()+"/v2/pods", s.Key(), "")
	require.Equal(t, 200, status)
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
	_, err = s.Users(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// In a state of before an endpoint was declared it is declared anew, and has another id.
func TestServer_EndpointsAreThoseOfTheStateThatIsLoaded(t *testing.T) {
	t.Parallel()
	o := berth.Options{Dir: t.TempDir()}
	first, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, first.SaveState(t.Context(), "base"))
	require.NoError(t, first.Close())

	o.Endpoints = []berth.Endpoint{{Name: "echo", Handler: echo}}
	s := berthtest.Start(t, o)
	before := s.Endpoint("echo")
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
	require.NoError(t, s.LoadState(t.Context(), "base"))
	require.NotEqual(t, before, s.Endpoint("echo"))
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
}
