package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// logServer answers requests for a log one after the other, and keeps the ids that they resume from.
func logServer(t *testing.T, answers ...func(w http.ResponseWriter)) (flags []string, resumed func() []string) {
	var n atomic.Int32
	ids := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids <- r.Header.Get("Last-Event-ID")
		answers[min(int(n.Add(1)), len(answers))-1](w)
	}))
	t.Cleanup(s.Close)

	return []string{"--server", s.URL}, func() (all []string) {
		for len(ids) > 0 {
			all = append(all, <-ids)
		}
		return all
	}
}

// writes gives an answer of lines; the id of each is its text.
func writes(lines ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		fmt.Fprint(w, ": nothing new\n\nid: only where it stands\n\n")
		for _, line := range lines {
			fmt.Fprintf(w, "id: %[1]s\ndata: {\"source\":\"container\",\"line\":\"%[1]s\",\"ts\":\"2026-01-31T12:00:00.000000001Z\"}\n\n", line)
		}
		w.(http.Flusher).Flush()
	}
}

// breaks is an answer that breaks off after lines.
func breaks(lines ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		writes(lines...)(w)
		panic(http.ErrAbortHandler)
	}
}

func TestLogs_FollowResumesWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	flags, resumed := logServer(t, breaks("a", "b"), writes("c"), writes())
	r := call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt", "--follow"}, flags...)...)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "a\nb\nc\n", r.out)
	require.Equal(t, []string{"", "b", "c"}, resumed())
}

func TestLogs_FollowEndsWhenTheWriterIsGone(t *testing.T) {
	t.Parallel()
	flags, _ := logServer(t, writes("a"), func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) })
	r := call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt", "--follow", "--timestamps"}, flags...)...)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "2026-01-31T12:00:00.000000001Z a\n", r.out)
}

// A container that writes without end, or an engine that is slow, changes nothing of it.
func TestLogs_EndWithTheLinesSoFar(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	defer close(over)
	flags, resumed := logServer(t, func(w http.ResponseWriter) {
		writes("a")(w)
		writes("b")(w)
		fmt.Fprint(w, ": so far\n\n")
		writes("c")(w)
		<-over
	})
	r := call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt", "--json"}, flags...)...)
	require.Zero(t, r.code, r.err)
	require.Equal(t, `{"source":"container","line":"a","ts":"2026-01-31T12:00:00.000000001Z"}`+"\n"+`{"source":"container","line":"b","ts":"2026-01-31T12:00:00.000000001Z"}`+"\n", r.out)
	require.Equal(t, []string{""}, resumed())
}

func TestLogs_OneThatEndsBeforeThatIsAFailure(t *testing.T) {
	t.Parallel()
	flags, _ := logServer(t, writes("a"))
	r := call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt"}, flags...)...)
	require.Equal(t, exitUnreached, r.code)
	require.Equal(t, "a\n", r.out)
	require.Contains(t, r.err, "the log broke off before all of it had come")
}

// TestLogs_OneThatOnlyLivesIsAFailure: of a server that cannot read it, or says of no line that it was the last.
func TestLogs_OneThatOnlyLivesIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body, server := io.Pipe()
		go func() {
			for {
				time.Sleep(15 * time.Second)
				if _, err := io.WriteString(server, ": nothing new\n\n"); err != nil {
					return
				}
			}
		}()
		q := logQuery{}
		_, err := q.stream(commandOf(t, io.Discard), &connection{server: "http://berth.example"}, new(string), func(context.Context) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
		})
		require.ErrorIs(t, err, errCutOff)
		time.Sleep(time.Minute) // until the server has noticed that nobody reads
	})
}

func TestLogs_UnreadableOneIsAFailure(t *testing.T) {
	t.Parallel()
	flags, _ := logServer(t, breaks("a"))
	r := call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt"}, flags...)...)
	require.Equal(t, exitUnreached, r.code)
	flags, _ = logServer(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) })
	r = call(t.Context(), "", append([]string{"pods", "logs", "k3v9x2m1q8w7rt", "--follow"}, flags...)...)
	require.Equal(t, exitRefused, r.code)
	require.Equal(t, "berth: 404 Not Found\nhint: this is not how a berth answers: is one at "+flags[1]+"?\n", r.err)
}
