package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

// following is a server whose events are followed over sockets.
type following struct {
	*edge
	url, token string
	changes    *changes.Log
	drain      context.CancelFunc
}

func newFollowing(t *testing.T) *following {
	draining, drain := context.WithCancel(t.Context())
	f := &following{changes: changes.New(compute.SystemClock{}, "epoch", nil), drain: drain}
	t.Cleanup(func() { require.NoError(t, f.changes.Close()) })
	f.edge = openWith(t, func(s *httpapi.Services) { s.Draining, s.Changes = draining, f.changes })
	f.token = f.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeRESTRead}, Exempt: true})
	server := httptest.NewServer(f.handler)
	t.Cleanup(server.Close)
	t.Cleanup(drain) // before that
	f.url = server.URL
	return f
}

// follow begins a stream.
func (f *following) follow() (status int, body io.Reader) {
	req, err := http.NewRequestWithContext(f.Context(), http.MethodGet, f.url+"/_berth/events", nil)
	require.NoError(f, err)
	req.Header.Set("Authorization", "Bearer "+f.token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(f, err)
	f.Cleanup(func() { _ = res.Body.Close() })
	return res.StatusCode, res.Body
}

func TestEvents_StreamsEndWithTheServerAndCountNoMore(t *testing.T) {
	t.Parallel()
	f := newFollowing(t)
	var streams []*bufio.Reader
	for range 10 {
		status, body := f.follow()
		require.Equal(t, 200, status)
		stream := bufio.NewReader(body)
		line, err := stream.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "retry: 1000\n", line)
		streams = append(streams, stream)
	}
	status, _ := f.follow()
	require.Equal(t, 429, status)

	f.drain()
	for _, stream := range streams {
		rest, err := io.ReadAll(stream)
		require.NoError(t, err, "the answer has its end")
		require.Regexp(t, `^\nid: epoch-\d+\n\n$`, string(rest))
	}
	for range 11 {
		status, body := f.follow()
		require.Equal(t, 200, status, "those before have ended")
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Regexp(t, `^retry: 1000\n\nid: epoch-\d+\n\n$`, string(text))
	}
}

func TestEvents_ComeWithWhatTheyTellOf(t *testing.T) {
	t.Parallel()
	f := newFollowing(t)
	_, body := f.follow()
	stream := bufio.NewReader(body)
	lines := func(n int) (text string) {
		for range n {
			line, err := stream.ReadString('\n')
			require.NoError(t, err)
			text += line
		}
		return text
	}
	require.Regexp(t, `^retry: 1000\n\nid: epoch-\d+\n\n$`, lines(4))
	f.changes.Note(
		changes.Event{Kind: changes.Pod, ID: "of-another", User: "v", Change: changes.Changed},
		changes.Event{Kind: changes.Pod, ID: "mine", User: "u", Change: changes.Deleted, Status: "<&>"},
	)
	require.Regexp(t, `^id: epoch-\d+\nevent: pod\n$`, lines(2))
	var told struct{ Kind, ID, Change, Status string }
	data := lines(2)
	require.NoError(t, json.Unmarshal([]byte(data[len("data: "):]), &told))
	require.Equal(t, []string{"pod", "mine", "deleted", "<&>"}, []string{told.Kind, told.ID, told.Change, told.Status})
	require.Contains(t, data, "<&>", "it is not escaped")
	require.Equal(t, "\n\n", data[len(data)-2:], "the event has its end")
}
