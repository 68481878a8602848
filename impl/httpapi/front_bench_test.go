package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/store/sqlite"
)

// sink is an answer of which only the status is kept, and the body if somebody wants it. Its header is used again for each
// request, so that a benchmark sees what the edge allocates and not what net/http does.
type sink struct {
	header http.Header
	status int
	body   *bytes.Buffer // nil: nobody wants it
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) FlushError() error      { return nil }

func (s *sink) Write(b []byte) (int, error) {
	if s.body != nil {
		s.body.Write(b)
	}
	return len(b), nil
}

// asker sends requests to the edge, the same one again and again with another path and body.
type asker struct {
	*edge
	request *http.Request
	text    bytes.Reader
	answer  sink
}

func newAsker(ctx context.Context, e *edge, token string) *asker {
	a := &asker{edge: e, answer: sink{header: http.Header{}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	require.NoError(e, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	a.request = r
	return a
}

// send sends a request and gives the status of its answer; 0: there is none.
func (a *asker) send(method, path, body string) int {
	r := a.request
	a.text.Reset([]byte(body))
	r.Method, r.URL, r.Body, r.ContentLength = method, &url.URL{Path: path}, io.NopCloser(&a.text), int64(len(body))
	clear(a.answer.header)
	a.answer.status = 0
	a.echo.ServeHTTP(&a.answer, r)
	return a.answer.status
}

// ask sends a request and wants the status.
func (a *asker) ask(method, path, body string, status int) {
	if got := a.send(method, path, body); got != status {
		a.Fatalf("%s %s was answered with %d", method, path, got)
	}
}

// job sends a request and gives the id of the job in its answer; empty: there is none.
func (a *asker) job(method, path, body string) string {
	a.answer.body = &bytes.Buffer{}
	defer func() { a.answer.body = nil }()
	if a.send(method, path, body) != http.StatusOK {
		return ""
	}
	var job struct{ ID string }
	if json.Unmarshal(a.answer.body.Bytes(), &job) != nil {
		return ""
	}
	return job.ID
}

// work takes jobs and finishes them until there is none.
func (a *asker) work(base string) {
	for {
		id := a.job(http.MethodGet, base+"job-take/w", "")
		if id == "" || a.send(http.MethodPost, base+"job-done/w/"+id, done) != http.StatusOK {
			return
		}
	}
}

const done = `{"output":{"text":"x"}}`

// BenchmarkJournal sends jobs to a server without the test controls, and to one that has them and keeps each request.
func BenchmarkJournal(b *testing.B) {
	for name, change := range map[string]func(*httpapi.Services){
		"without": func(*httpapi.Services) {},
		"with":    func(s *httpapi.Services) { s.Controls = struct{ httpapi.Controls }{} }, // nothing here asks for them
	} {
		e := openWith(b, func(s *httpapi.Services) {
			s.Log = slog.New(slog.DiscardHandler)
			change(s)
		})
		a := newAsker(b.Context(), e, e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}}))
		base, body := "/v2/"+string(e.endpoint)+"/", `{"input":{"text":"`+strings.Repeat("x", 1000)+`"}}`
		b.Run("run "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.ask(http.MethodPost, base+"run", body, http.StatusOK)
			}
		})
		b.Run("refused run "+name, func(b *testing.B) { // without the store, which takes most of the time and is never as quick as before
			b.ReportAllocs()
			for b.Loop() {
				a.ask(http.MethodPost, base+"run", strings.Replace(body, "input", "inputs", 1), http.StatusUnprocessableEntity)
			}
		})
	}
}

// BenchmarkRequests sends the most frequent requests through the whole edge, down to the store.
func BenchmarkRequests(b *testing.B) {
	e := openWith(b, func(s *httpapi.Services) {
		db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "rates.db"), s.Clock)
		require.NoError(b, err)
		b.Cleanup(func() { _ = db.Close() })
		s.Rates, err = control.NewRates(b.Context(), db, s.Clock, compute.Windows(1e12, 1e12, 1e12))
		require.NoError(b, err)
		s.Log = slog.New(slog.DiscardHandler)
	})

	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	a := newAsker(b.Context(), e, token)
	base, body := "/v2/"+string(e.endpoint)+"/", `{"input":{"text":"`+strings.Repeat("x", 1000)+`"}}`
	b.Run("status", func(b *testing.B) {
		path := base + "status/" + a.job(http.MethodPost, base+"run", body)
		b.ReportAllocs()
		for b.Loop() {
			a.ask(http.MethodGet, path, "", http.StatusOK)
		}
	})

	a.ask(http.MethodPost, base+"purge-queue", "", http.StatusOK)
	b.Run("run, take and done", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id := a.job(http.MethodPost, base+"run", body)
			a.ask(http.MethodGet, base+"job-take/w", "", http.StatusOK)
			a.ask(http.MethodPost, base+"job-done/w/"+id, done, http.StatusOK)
		}
	})

	b.Run("runsync, take and done", func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		var worker sync.WaitGroup
		worker.Go(func() { newAsker(ctx, e, token).work(base) })
		b.ReportAllocs()
		for b.Loop() {
			a.ask(http.MethodPost, base+"runsync", body, http.StatusOK)
		}
		stop()
		worker.Wait()
	})

	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.ask(http.MethodPost, base+"run", body, http.StatusOK)
		}
	})

	b.Run("createPod stored", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.ask(http.MethodPost, "/v2/pods", pod, http.StatusCreated)
		}
	})

	b.Run("createPod refused", func(b *testing.B) {
		b.ReportAllocs()
		body := strings.Replace(pod, `"vcpuCount":2`, `"vcpuCount":3`, 1)
		for b.Loop() {
			a.ask(http.MethodPost, "/v2/pods", body, http.StatusUnprocessableEntity)
		}
	})
}
