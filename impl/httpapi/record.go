package httpapi

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	return (!strings.HasPrefix(path, "/_berth") || isInbox(path)) && published[path] == "" && s.Docs[path] == nil && path != HealthPath && path != ReadyPath && !s.led(r.Request())
}

// isInbox reports whether the path is one that takes webhooks.
func isInbox(path string) bool { return strings.HasPrefix(path, "/_berth/inbox/") }

// recording is a request on its way into the journal. It sees what is read of the one body and written of the other.
type recording struct {
	http.ResponseWriter
	s        *Services
	r        *request
	record   *journal.Record
	exchange journal.Exchange
	sent     *http.Request // as it came
	ended    bool
	answered bool // without an error

	body io.ReadCloser // of the request
	over bool          // it was read to its end, or cannot be

	announced int64 // length of the answer; -1: not known
}

func (s *Services) newRecording(r *request) *recording {
	sent := r.Request()
	x := &recording{
		ResponseWriter: r.Response().Writer, s: s, r: r, record: s.Journal.Begin(s.Clock.Now()), sent: sent, body: sent.Body, announced: -1,
		exchange: journal.Exchange{
			At: s.Clock.Wall(), Method: sent.Method, Path: sent.URL.EscapedPath(), Query: sent.URL.RawQuery, Host: sent.Host, Protocol: sent.Proto,
			Credentials: bodies.Credentials(sent),
		},
	}

	x.exchange.Request.Headers = sent.Header.Clone()
	r.record = x.record
	r.Response().Writer = x
	with := sent.WithContext(journal.With(sent.Context(), x.record))
	with.Body = recordedBody{x}
	r.SetRequest(with)
	return x
}

// most is how many bytes of a body are looked at. A document of GraphQL must be read as a whole to know what is secret in it.
func (x *recording) most() int {
	if x.sent.URL.Path == graphqlPath {
		return graphqlBody
	}
	return x.s.Journal.Bounds().Body + journal.Slack
}

// graphqlBody is how many bytes of a document of GraphQL are looked at: one that is longer is not shown.
const graphqlBody = 1 << 20

// see adds to what is kept of a body.
func (x *recording) see(s *journal.Sent, p []byte) {
	s.Length += int64(len(p))
	if room := x.most() - len(s.Body); room > 0 {
		s.Body = append(s.Body, p[:min(room, len(p))]...)
	}
}

// recordedBody is the body of a request that is recorded.
type recordedBody struct{ x *recording }

// Read notes what is read.
func (b recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.x.body.Read(p)
	if !b.x.ended {
		b.x.see(&b.x.exchange.Request, p[:n])
	}
	b.x.over = b.x.over || err != nil
	return n, err
}

// Close is that of the body.
func (b recordedBody) Close() error { return b.x.body.Close() }

// read reads a short body that nobody has read, since the request was refused before: a test wants to see what was sent. It has little time
// to come. One that waits to be asked for is not read.
func (x *recording) read() {
	left := x.sent.ContentLength - x.exchange.Request.Length
	if x.over || x.ended || left <= 0 || x.sent.ContentLength > int64(x.s.Journal.Bounds().Body) || x.sent.Header.Get("Expect") != "" {
		return
	}
	limit.Refused(x.ResponseWriter, x.sent)
	_, _ = io.CopyN(io.Discard, recordedBody{x}, left) // what has come is known
	x.over = true
}

// WriteHeader notes the answer's status and headers.
func (x *recording) WriteHeader(status int) {
	if x.exchange.Status == 0 && status >= http.StatusOK {
		x.read() // net/http would throw it away
		x.exchange.Status = status
		x.exchange.Response.Headers = x.Header().Clone()
		if n, err := strconv.ParseInt(x.Header().Get(echo.HeaderContentLength), 10, 64); err == nil {
			x.announced = n
		}
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write notes what is written. The entry is there before a client can have read the last of an answer whose length it knows.
func (x *recording) Write(p []byte) (int, error) {
	if !x.ended {
		x.see(&x.exchange.Response, p)
		if x.announced >= 0 && x.exchange.Response.Length >= x.announced {
			x.end()
		}
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (x *recording) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// end keeps the request, once.
func (x *recording) end() {
	if x.ended {
		return
	}
	x.ended = true
	e := &x.exchange
	e.End = x.s.Clock.Now()
	if e.Status == 0 && x.answered && x.sent.Context().Err() == nil {
		e.Status = http.StatusOK // net/http's, of a handler that writes nothing
	}
	if !x.over {
		e.Request.Length = max(e.Request.Length, x.sent.ContentLength) // what it announced
	}

	x.address()
	var graphql bodies.GraphQL
	if x.s.GraphQL != nil {
		graphql = x.s.GraphQL.Recorded
	}
	x.s.secret.Conceal(e, graphql)
	x.s.Journal.End(x.record, *e)
	x.s.Changes.Note(changes.Event{Kind: changes.Journal, Change: changes.Changed})
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
			id, _, _ = strings.Cut(id, "&")    // SDK workers append a query, see seatOf
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
