package worker

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWithQuery(t *testing.T) {
	t.Parallel()
	require.Equal(t, "http://x/?a=1", withQuery("http://x/", "a=1"))
	require.Equal(t, "http://x/?b=2&a=1", withQuery("http://x/?b=2", "a=1"))
}

// served gives a client of a server, and pauses of which those for an outage are short.
func served(t *testing.T, answer http.HandlerFunc) *client {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	pauses := UsualPauses()
	pauses.Poll, pauses.Post, pauses.FirstPost = 50*time.Millisecond, 50*time.Millisecond, time.Millisecond
	return newClient(Settings{TakeURL: server.URL + "/job-take/w", DoneURL: server.URL + "/job-done/w/$ID", Concurrency: 1, Pauses: pauses})
}

// A result may take longer on a slow line than an outage is waited for.
func TestPost_HasItsTimeUntilItFails(t *testing.T) {
	t.Parallel()
	slow := served(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = Pause(r.Context(), 300*time.Millisecond)
	})
	require.NoError(t, slow.done(t.Context(), "j", report{}, false))

	var asked atomic.Int64
	broken := served(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	require.ErrorIs(t, broken.done(t.Context(), "j", report{}, false), statusError(http.StatusServiceUnavailable))
	require.Greater(t, asked.Load(), int64(1))
}

// What has begun to come is read to its end, though a take is held no longer.
func TestPoll_ReadsALongAnswer(t *testing.T) {
	t.Parallel()
	slow := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"id": "j", `)
		_ = http.NewResponseController(w).Flush()
		_ = Pause(r.Context(), 300*time.Millisecond)
		_, _ = io.WriteString(w, `"input": 1}`)
	})
	jobs, err := slow.take(t.Context(), 1, false)
	require.NoError(t, err)
	require.Len(t, jobs, 1)

	silent := served(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	jobs, err = silent.take(t.Context(), 1, false)
	require.NoError(t, err, "nothing came")
	require.Empty(t, jobs)
}
