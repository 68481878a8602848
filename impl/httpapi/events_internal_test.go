package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
)

func TestStreams_AreBoundedOfAKeyAndInAll(t *testing.T) {
	t.Parallel()
	s := newStreams("logs that are followed", 2, 3)
	var ends []func()
	for _, key := range []compute.KeyID{"a", "a", "b"} {
		end, err := s.begin(key)
		require.NoError(t, err)
		ends = append(ends, end)
	}
	for key, says := range map[compute.KeyID]string{"a": "the key has 2 logs that are followed already", "b": "there are 3 logs that are followed already"} {
		_, err := s.begin(key)
		require.Equal(t, compute.TooMany, compute.CodeOf(err))
		require.ErrorContains(t, err, says)
	}
	for _, end := range ends {
		end()
	}
	require.Empty(t, s.of)
	require.Zero(t, s.all)
	end, err := s.begin("a")
	require.NoError(t, err)
	end()
}

func TestStreams_EachKindHasItsBounds(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		of           func(*Services) *streams
		ofKey, inAll int
	}{
		"streams of events":                                 {func(s *Services) *streams { return s.follows }, 10, 200},
		"logs that are followed":                            {func(s *Services) *streams { return s.tails }, 100, 1000},
		"requests that wait for jobs":                       {func(s *Services) *streams { return s.held }, 2048, 1 << 20},
		"requests that wait for jobs, and polls of workers": {func(s *Services) *streams { return s.polls }, 3000, 1 << 20},
	} {
		h, err := New(Services{Connections: 4000})
		require.NoError(t, err)
		streams := c.of(h.services)
		for range c.ofKey {
			_, err := streams.begin("one")
			require.NoError(t, err, what)
		}
		_, err = streams.begin("one")
		require.Equal(t, compute.TooMany, compute.CodeOf(err), what)
		require.ErrorContains(t, err, what)

		streams.all = c.inAll - 1
		end, err := streams.begin("other")
		require.NoError(t, err, what)
		_, err = streams.begin("third")
		require.Equal(t, compute.TooMany, compute.CodeOf(err), what)
		end()
		_, err = streams.begin("third")
		require.NoError(t, err, what)
	}
}

// Who waits for jobs and whose workers poll has no more connections than who does one of both.
func TestStreams_WaitsAndPollsCountTogether(t *testing.T) {
	t.Parallel()
	h, err := New(Services{Connections: 8})
	require.NoError(t, err)
	s := h.services
	var ends []func()
	for _, of := range []*streams{s.held, s.polls, s.held, s.polls, s.held, s.polls} {
		end, err := of.begin("one")
		require.NoError(t, err)
		ends = append(ends, end)
	}
	for _, of := range []*streams{s.held, s.polls} {
		_, err := of.begin("one")
		require.Equal(t, compute.TooMany, compute.CodeOf(err))
	}
	for _, end := range ends {
		end()
	}
	require.Empty(t, s.held.of)
	require.Empty(t, s.polls.of)
}

func TestEvents_AreSeenByKeysThatMayReadWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	const endpoint = "endpoint1"
	keys := map[string]compute.Key{
		"controls": {UserID: "u", Scopes: []compute.Scope{compute.ScopeControls}},
		"admin":    {UserID: "u", Scopes: []compute.Scope{compute.ScopeAdmin}},
		"reader":   {UserID: "u", Scopes: []compute.Scope{compute.ScopeRESTRead}},
		"invoker":  {UserID: "u", Scopes: []compute.Scope{compute.ScopeInvoke(endpoint)}},
	}
	for _, c := range []struct {
		event changes.Event
		by    []string
	}{
		{changes.Event{Kind: changes.Reset}, []string{"admin", "controls", "invoker", "reader"}},
		{changes.Event{Kind: changes.Host}, []string{"admin", "controls"}},
		{changes.Event{Kind: changes.Key, User: "u"}, []string{"admin", "controls"}},
		{changes.Event{Kind: changes.Clock}, []string{"controls"}},
		{changes.Event{Kind: changes.Fault}, []string{"controls"}},
		{changes.Event{Kind: changes.Journal}, []string{"controls"}},
		{changes.Event{Kind: changes.Webhook, User: "u"}, []string{"controls"}},
		{changes.Event{Kind: changes.Job, User: "u", Endpoint: endpoint}, []string{"controls", "invoker"}},
		{changes.Event{Kind: changes.Job, User: "v", Endpoint: endpoint}, []string{"controls"}},
		{changes.Event{Kind: changes.Job, User: "u", Endpoint: "another"}, []string{"controls"}},
		{changes.Event{Kind: changes.Pod, User: "u"}, []string{"controls", "reader"}},
		{changes.Event{Kind: changes.Pod, User: "v"}, []string{"controls"}},
	} {
		var by []string
		for name, key := range keys {
			if shown(key, nil)(c.event) {
				by = append(by, name)
			}
		}
		require.ElementsMatch(t, c.by, by, c.event)
	}

	pods := shown(keys["controls"], []controls.FollowedKind{"pod"})
	require.True(t, pods(changes.Event{Kind: changes.Pod}))
	require.False(t, pods(changes.Event{Kind: changes.Job}), "another kind was asked for")
	require.True(t, pods(changes.Event{Kind: changes.Reset}), "who missed something is told in any case")
}

func TestEvents_OfJobsAndWorkersNameTheirEndpoint(t *testing.T) {
	t.Parallel()
	for _, kind := range []changes.Kind{changes.Job, changes.Worker, changes.Endpoint, changes.Pod} {
		view := eventView(changes.Event{Kind: kind, ID: "a", Endpoint: "e"})
		if kind == changes.Job || kind == changes.Worker {
			require.Equal(t, "e", *view.EndpointID, kind)
		} else {
			require.Nil(t, view.EndpointID, kind)
		}
		require.Nil(t, view.Status, kind)
	}
}
