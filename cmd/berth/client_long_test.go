package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/gen/queueclient"
)

// answersAfter answers with a document once so much time has passed, unless the request ends before.
func answersAfter(d time.Duration, document string) answering {
	return func(ctx context.Context) (*http.Response, error) {
		select {
		case <-time.After(d):
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(document))}, nil
		case <-ctx.Done():
			return nil, &url.Error{Op: "Get", URL: "http://berth.example", Err: context.Cause(ctx)}
		}
	}
}

// answeredAfter is a connection to a server that takes so long for each request.
func answeredAfter(t *testing.T, d time.Duration, document string) *connection {
	t.Helper()
	p := &played{answers: []answering{answersAfter(d, document)}}
	c := &connection{server: "http://berth.example"}
	var err error
	c.controls, err = controlsclient.NewClient(c.server, controlsclient.WithHTTPClient(p))
	require.NoError(t, err)
	c.queue, err = queueclient.NewClient(c.server, queueclient.WithHTTPClient(p))
	require.NoError(t, err)
	return c
}

func TestClient_WaitsForWorkThatTakesLong(t *testing.T) {
	t.Parallel()
	works := map[string]func(context.Context, *connection) error{
		"reset": func(ctx context.Context, c *connection) error { return c.reset(ctx) },
		"export": func(ctx context.Context, c *connection) error {
			_, err := c.exportJournal(ctx, &controls.ListJournalParams{})
			return err
		},
	}
	for _, verb := range stateVerbs {
		works[verb.use] = func(ctx context.Context, c *connection) error { return verb.to(ctx, c, "large") }
	}

	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				require.NoError(t, work(t.Context(), answeredAfter(t, 59*time.Minute, "{}")))
				require.ErrorContains(t, work(t.Context(), answeredAfter(t, 2*time.Hour, "{}")), "was not reached")
			})
		})
	}
}

// trickle gives its bytes in pieces, after a pause each.
type trickle struct {
	left, piece int
	pause       time.Duration
	given       int
}

func (r *trickle) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if r.given%r.piece == 0 {
		<-time.After(r.pause)
	}
	n = min(len(p), r.piece-r.given%r.piece, r.left)
	copy(p, strings.Repeat(" ", n))
	r.left, r.given = r.left-n, r.given+n
	return n, nil
}

func TestClient_ALongAnswerHasTimeToCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  trickle
		comes bool
	}{
		"ten megabytes on a slow line":    {trickle{left: 10_000_000, piece: 64 << 10, pause: 3 * time.Second}, true},
		"and nothing comes for ever":      {trickle{left: 10_000_000, piece: 10, pause: 3 * time.Second}, false},
		"nor does one stop on its way":    {trickle{left: 10_000_000, piece: 64 << 10, pause: 2 * time.Minute}, false},
		"nor after much that came fast":   {trickle{left: 60_000_000, piece: 30_000_000, pause: 40 * time.Second}, false},
		"a short one that comes in pause": {trickle{left: 1000, piece: 100, pause: time.Second}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn := &connection{server: "http://berth.example"}
				_, err := conn.ask(t.Context(), func(ctx context.Context) (*http.Response, error) {
					body := readerOf(func(p []byte) (int, error) {
						n, err := c.body.Read(p)
						if ctx.Err() != nil {
							return n, ctx.Err()
						}
						return n, err
					})
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
				})
				if c.comes {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, "was not reached: no answer came within")
				}
			})
		})
	}
}

// readerOf is a reader by its function.
type readerOf func([]byte) (int, error)

func (f readerOf) Read(p []byte) (int, error) { return f(p) }

func TestJobs_ALongInputHasTimeToCome(t *testing.T) {
	t.Parallel()
	const id = "f08vqgrv1p2xkd"
	for name, c := range map[string]struct {
		bytes   int
		takes   time.Duration
		arrives bool
	}{
		"a short one":                  {100, requestTime - time.Second, true},
		"a short one that takes long":  {100, requestTime + time.Second, false},
		"ten megabytes on a slow line": {10_000_000, 10 * time.Minute, true},
		"and nothing takes for ever":   {10_000_000, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := &jobs{connection: answeredAfter(t, c.takes, `{"id":"one","status":"IN_QUEUE"}`), cmd: commandOf(t, io.Discard), named: id}
				job, _, err := j.submit(&waiting{}, false, 0, make([]byte, c.bytes), func(ctx context.Context, contentType string, body io.Reader) (*http.Response, error) {
					return j.queue.RunWithBody(ctx, j.endpoint, contentType, body)
				})
				if c.arrives {
					require.NoError(t, err)
					require.Equal(t, "one", job.ID)
				} else {
					require.ErrorContains(t, err, "was not reached")
				}
			})
		})
	}
}
