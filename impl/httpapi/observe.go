package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
)

// Meter counts the requests of one operation.
type Meter interface {
	// Answered reports that a request was answered with the HTTP status, which took so long; 0: the connection was cut before.
	Answered(status int, took time.Duration)
}

// Trace follows requests.
type Trace interface {
	// Request reports that a request has come and gives the one that carries its trace; over is called with the status of the answer; 0: the
	// connection was cut before.
	Request(r *http.Request, route, operation, id string) (_ *http.Request, over func(status int))
	// Part reports that a part of what ctx is about begins.
	Part(ctx context.Context, name string) (over func())
	// ID gives the trace that ctx is in; empty: none.
	ID(ctx context.Context) string
}

// route is what a request is known by before anything of it is read.
type route struct{ method, path string }

// operation is what is known of a route: its id, under which it is counted, traced and logged, and the names that the log gives to
// the ids in its path.
type operation struct {
	id    string
	names []string
	meter Meter // nil: nobody counts
}

// The operations of paths that are in no document.
const (
	healthzOperation  = "healthz"
	readyzOperation   = "readyz"
	graphqlOperation  = "graphql"
	documentOperation = "document"
	unknownOperation  = "unknown" // no route: 404, 405
)

// idNames are what the log calls the parameters of paths. An id alone is called by what it is of, see idName.
var idNames = map[string]string{"endpointId": "endpoint", "jobId": "job", "workerId": "worker", "buildId": "build", "keyId": "key"}

// resourceNames are what the log calls the id of a resource, by its place in the path.
var resourceNames = map[string]string{
	"pods": "pod", "serverless": "endpoint", "endpoints": "endpoint", "templates": "template", "network-volumes": "volume", "global-volumes": "volume", "registries": "registry",
	"delegations": "delegation", "clusters": "cluster", "gpus": "gpu", "cpus": "cpu", "datacenters": "center",
}

// observed notes the routes of all operations, once, so that a request finds its own by one look into a map that never changes.
func (s *Services) observed() {
	s.routes = map[route]*operation{}
	add := func(method, path, id string) *operation {
		o := &operation{id: id}
		if s.Meter != nil {
			o.meter = s.Meter(id)
		}

		segments := strings.Split(path, "/")
		for i, segment := range segments {
			if name, ok := strings.CutPrefix(segment, ":"); ok {
				if short, known := idNames[name]; known {
					name = short
				} else if short, known := resourceNames[segments[i-1]]; known {
					name = short
				}
				o.names = append(o.names, name)
			}
		}

		s.routes[route{method, path}] = o
		return o
	}

	braces := strings.NewReplacer("{", ":", "}", "")
	for _, editions := range interfaces {
		for id, op := range ofAny(editions) {
			add(op.Method, braces.Replace(op.Path), id)
		}
	}

	add(http.MethodPost, buildsPath, createBuildOperation)
	add(http.MethodDelete, buildPath, cancelBuildOperation)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		add(method, HealthPath, healthzOperation)
		add(method, ReadyPath, readyzOperation)
		for path := range published {
			add(method, path, documentOperation)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		add(method, graphqlPath, graphqlOperation)
	}
	s.unknown = add("", "", unknownOperation)
}

// operationOf gives the operation that the request is routed to.
func (s *Services) operationOf(c echo.Context) *operation {
	if o := s.routes[route{c.Request().Method, c.Path()}]; o != nil {
		return o
	}
	return s.unknown
}

// logged gives the request its id, and counts, traces and logs it: method, route, status and ids, never a query, which may hold a
// key, nor a header.
func (s *Services) logged(next handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := &request{Context: c, bodies: s.Bodies}
		s.asked(r)
		id := s.IDs.Word(16)
		r.head.set(c, echo.HeaderXRequestID, id)
		r.head.set(c, "Date", s.dates.text(s.Clock.Wall())) // which net/http would take from the machine
		start := s.Clock.Now()
		var o *operation
		if s.Meter != nil || s.Trace != nil {
			o = s.operationOf(c)
		}

		over := func(int) {}
		if s.Trace != nil && o.id != healthzOperation && o.id != readyzOperation { // probes come all the time
			var traced *http.Request
			traced, over = s.Trace.Request(c.Request(), c.Path(), o.id, id)
			c.SetRequest(traced)
		}

		cut := true // the connection, by a panic
		defer func() {
			status := statusOf(c, cut)
			s.ended(r, o, status, start)
			over(status)
		}()
		if err := next(r); err != nil {
			s.writeError(err, r)
		}
		cut = false
		return nil
	}
}

// statusOf gives the status of the answer to a request that is over. Where none was begun it is statusGone if the client did not wait for it, and
// 0 if the server cut the connection.
func statusOf(c echo.Context, cut bool) int {
	switch answer := c.Response(); {
	case answer.Committed:
		return answer.Status
	case contextOf(c).Err() != nil:
		return statusGone
	case cut:
		return 0
	}
	return http.StatusOK // net/http's, of a handler that writes nothing
}

// ended counts and logs a request that is over.
func (s *Services) ended(r *request, o *operation, status int, start time.Time) {
	logs := s.Log.Enabled(contextOf(r), slog.LevelDebug)
	if s.Meter == nil && !logs {
		return
	}

	took := s.Clock.Now().Sub(start)
	if s.Meter != nil {
		o.meter.Answered(status, took)
	}
	if logs {
		s.Log.LogAttrs(contextOf(r), slog.LevelDebug, "request", append(s.words(r), slog.Int("status", status), slog.Float64("ms", float64(took.Microseconds())/1000))...)
	}
}

// note has the log of this request name an id that is not in its path. It costs next to nothing when nobody reads it.
func (s *Services) note(c echo.Context, name, id string) {
	if id == "" || !s.Log.Enabled(contextOf(c), slog.LevelDebug) {
		return
	}
	r := requestOf(c)
	r.noted = append(r.noted, slog.String(name, id))
}

// longestID bounds what the log shows of a path's parameter: a client can send any text.
const longestID = 100

// words are what the log says of a request.
func (s *Services) words(r *request) []slog.Attr {
	o := s.operationOf(r)
	words := []slog.Attr{
		slog.String("request", r.Response().Header().Get(echo.HeaderXRequestID)), slog.String("operation", o.id),
		slog.String("method", r.Request().Method), slog.String("route", r.Path()),
	}

	for i, value := range r.ParamValues() {
		if i < len(o.names) {
			value = bareID(value)
			words = append(words, slog.String(o.names[i], value[:min(len(value), longestID)]))
		}
	}

	words = append(words, r.noted...)
	if s.Trace != nil {
		if id := s.Trace.ID(contextOf(r)); id != "" {
			words = append(words, slog.String("trace", id))
		}
	}

	return words
}

// logFailure logs what a request failed of, which its client does not see.
func (s *Services) logFailure(c echo.Context, message string, err error) {
	s.Log.LogAttrs(contextOf(c), slog.LevelError, message, append(s.words(requestOf(c)), slog.Any("error", err))...)
}

// healthz answers 200 while the store answers.
func (s *Services) healthz(c echo.Context) error {
	if err := s.Ready(contextOf(c)); err != nil {
		return &compute.Error{Code: compute.Unavailable, Detail: "the store does not answer", Cause: err}
	}
	return c.NoContent(http.StatusOK)
}

// The causes of refusals that are not logged each time.
var (
	errDraining = errors.New("the server is draining")
	errLogged   = errors.New("it is logged once")
)

// ErrLeaving is the refusal of a server that goes, where it is asked whether it stays.
var ErrLeaving = &compute.Error{Code: compute.Unavailable, Detail: "not ready: " + errDraining.Error(), Cause: errDraining}

// errStopping is the refusal of a server that ends what it was asked for at once.
var errStopping = &compute.Error{Code: compute.Unavailable, Detail: errDraining.Error(), Cause: errDraining}

// readyz answers 200 while the server can do its work and goes on doing it: the store answers and takes writes, what pods and
// workers run on answers, and the server does not drain. Otherwise it names what is missing.
func (s *Services) readyz(c echo.Context) error {
	var missing []string
	var causes []error
	var retryAfter time.Duration
	lack := func(what string, cause error) {
		missing, causes = append(missing, what), append(causes, cause)
	}
	if err := s.Ready(contextOf(c)); err != nil {
		lack("the store does not answer", err)
	}

	if s.Trouble != nil {
		if trouble, ok := errors.AsType[*compute.Error](s.Trouble()); ok {
			lack(trouble.Detail, errLogged)
			retryAfter = trouble.RetryAfter
		}
	}

	if s.Reachable != nil {
		if err := s.Reachable(contextOf(c)); err != nil {
			lack("what pods and workers run on does not answer", err)
		}
	}

	if s.Leaving != nil && s.Leaving() {
		lack(errDraining.Error(), errDraining)
	}
	if len(missing) == 0 {
		return c.NoContent(http.StatusOK)
	}

	return &compute.Error{
		Code: compute.Unavailable, Detail: "not ready: " + strings.Join(missing, "; "), RetryAfter: retryAfter, Cause: errors.Join(causes...),
	}
}
