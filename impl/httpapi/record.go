package httpapi

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
	"github.com/berthdev/berth/impl/limit"
)

// record makes the journal.
func (s *Services) record() {
	if s.Journal == nil {
		s.Journal = journal.New(journal.DefaultBounds())
	}
	s.secret = bodies.Known()
}

// recorded keeps the request and its answer in the journal. It stands in front only where there are test controls.
func (s *Services) recorded(next handler) handler {
	return func(r *request) error {
		if !s.isRecorded(r) {
			return next(r)
		}

		x := s.newRecording(r)
		defer x.end()  // also when the connection is cut
		defer x.read() // before that
		err := next(r)
		if err != nil {
			s.writeError(err, r)
		}
		x.answered = err == nil
		return nil
	}
}

// isRecorded reports whether the request is one of the published interfaces, and not one for a page, a probe or the controls.
func (s *Services) isRecorded(r *request) bool {
	path := r.Request().URL.Path
	return (!strings.HasPrefix(path, "/_berth") || isInbox(path)) && published[path] == "" && !s.shows(path) && path != HealthPath && path != ReadyPath && !s.led(r.Request())
}

// isInbox reports whether the path is one that takes webhooks.
func isInbox(path string) bool { return strings.HasPrefix(path, "/_berth/inbox/") }

// exchanging is a request and its answer on their way into the journal. It sees what is read of the one body and written of the other, each of
// which may be done by a goroutine of its own.
type exchanging struct {
	http.ResponseWriter
	s         *Services
	record    *journal.Record
	sent      *http.Request // as it came
	most      int           // how many bytes of a body are looked at
	announced int64         // length of the answer; -1: not known
	complete  func(*journal.Exchange)

	mu       sync.Mutex
	exchange journal.Exchange
	over     bool // the request's body was read to its end, or cannot be
	ended    bool
}

// exchanging begins to record a request. complete adds what is known of it only at its end.
func (s *Services) exchanging(w http.ResponseWriter, sent *http.Request, complete func(*journal.Exchange)) exchanging {
	return exchanging{
		ResponseWriter: w, s: s, record: s.Journal.Begin(s.Clock.Now()), sent: sent, most: s.Journal.Bounds().Body + journal.Slack, announced: -1, complete: complete,
		exchange: journal.Exchange{
			At: s.Clock.Wall(), Method: sent.Method, Path: sent.URL.EscapedPath(), Query: sent.URL.RawQuery, Host: sent.Host, Protocol: sent.Proto,
			Credentials: bodies.Credentials(sent), Request: journal.Sent{Headers: sent.Header.Clone()},
		},
	}
}

// see adds to what is kept of a body. The caller has the lock.
func (x *exchanging) see(s *journal.Sent, p []byte) {
	s.Length += int64(len(p))
	if room := x.most - len(s.Body); room > 0 {
		s.Body = append(s.Body, p[:min(room, len(p))]...)
	}
}

// recordedBody is the body of a request that is recorded.
type recordedBody struct {
	x    *exchanging
	body io.ReadCloser
}

// Read notes what is read.
func (b recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.body.Read(p)
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	if !b.x.ended {
		b.x.see(&b.x.exchange.Request, p[:n])
	}
	b.x.over = b.x.over || err != nil
	return n, err
}

// Close is that of the body.
func (b recordedBody) Close() error { return b.body.Close() }

// status gives that of the answer; 0: it has none yet.
func (x *exchanging) status() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.exchange.Status
}

// WriteHeader notes the answer's status and headers, of the last answer alone.
func (x *exchanging) WriteHeader(status int) {
	x.mu.Lock()
	if x.exchange.Status == 0 && status >= http.StatusOK {
		x.exchange.Status = status
		x.exchange.Response.Headers = x.Header().Clone()
		if n, err := strconv.ParseInt(x.Header().Get(echo.HeaderContentLength), 10, 64); err == nil {
			x.announced = n
		}
	}
	x.mu.Unlock()
	x.ResponseWriter.WriteHeader(status)
}

// Write notes what is written. The entry is there before a client can have read the last of an answer whose length it knows.
func (x *exchanging) Write(p []byte) (int, error) {
	x.mu.Lock()
	whole := false
	if !x.ended {
		x.see(&x.exchange.Response, p)
		whole = x.announced >= 0 && x.exchange.Response.Length >= x.announced
	}
	x.mu.Unlock()
	if whole {
		x.end()
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (x *exchanging) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// end keeps the request, once.
func (x *exchanging) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.ended = true
	e := &x.exchange
	e.End = x.s.Clock.Now()
	if !x.over {
		e.Request.Length = max(e.Request.Length, x.sent.ContentLength) // what it announced
	}

	x.complete(e)
	var graphql bodies.GraphQL
	if x.s.GraphQL != nil {
		graphql = x.s.GraphQL.Recorded
	}
	x.s.secret.Conceal(e, graphql)
	x.s.Journal.End(x.record, *e)
	x.s.Changes.Note(changes.Event{Kind: changes.Journal, Change: changes.Changed})
}

// recording is a request to one of the published interfaces.
type recording struct {
	exchanging
	r        *request
	answered bool // without an error
}

func (s *Services) newRecording(r *request) *recording {
	sent := r.Request()
	x := &recording{r: r}
	x.exchanging = s.exchanging(r.Response().Writer, sent, x.known)
	if sent.URL.Path == graphqlPath {
		x.most = graphqlBody
	}

	r.record = x.record
	r.Response().Writer = x
	with := sent.WithContext(journal.With(sent.Context(), x.record))
	with.Body = recordedBody{&x.exchanging, sent.Body}
	r.SetRequest(with)
	return x
}

// graphqlBody is how many bytes of a document of GraphQL are looked at: it must be read as a whole to know what is secret in it, and one that
// is longer is not shown.
const graphqlBody = 1 << 20

// read reads a short body that nobody has read, since the request was refused before: a test wants to see what was sent. It has little time
// to come. One that waits to be asked for is not read.
func (x *recording) read() {
	left := x.sent.ContentLength - x.exchange.Request.Length
	if x.over || x.ended || left <= 0 || x.sent.ContentLength > int64(x.s.Journal.Bounds().Body) || x.sent.Header.Get("Expect") != "" {
		return
	}
	limit.Refused(x.ResponseWriter, x.sent)
	_, _ = io.CopyN(io.Discard, recordedBody{&x.exchanging, x.sent.Body}, left) // what has come is known
	x.over = true
}

// WriteHeader reads a body that net/http would throw away, and notes the answer's status and headers.
func (x *recording) WriteHeader(status int) {
	if status >= http.StatusOK && x.status() == 0 {
		x.read()
	}
	x.exchanging.WriteHeader(status)
}

// known completes what is kept.
func (x *recording) known(e *journal.Exchange) {
	if e.Status == 0 && x.answered && x.sent.Context().Err() == nil {
		e.Status = http.StatusOK // net/http's, of a handler that writes nothing
	}
	x.address()
}

// address notes what the request is for.
func (x *recording) address() {
	e, o := &x.exchange, x.s.operationOf(x.r)
	e.Operation = o.id
	if x.sent.URL.Path == graphqlPath {
		e.Operation = graphqlOperation
	}
	e.Resources = x.r.resources(o)
}

// resources gives the ids in the path of the request.
func (r *request) resources(o *operation) (all []journal.Resource) {
	for i, id := range r.ParamValues() {
		if i < len(o.names) {
			if name := o.names[i]; name == "worker" || name == "job" {
				id = bareID(id)
			}
			if r.Request().URL.RawPath != "" { // the router took the path as it was written: it has a slash that is escaped
				if name, err := url.PathUnescape(id); err == nil {
					id = name
				}
			}
			all = append(all, journal.Resource{Kind: o.names[i], ID: id})
		}
	}
	return all
}
