package httpapi

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/validate"
)

// recovered turns a panic into an internal error that only the log explains.
func (s *Services) recovered(next handler) handler {
	return func(r *request) (err error) {
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if cause, ok := fault.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(fault) // net/http's own way to cut a connection
			}
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}()

		return next(r)
	}
}

// authenticated finds the caller. It stands before the answers 404 and 405 (rule errors.order). What asks for no key is shown under
// the names of the server alone (rule bounds.hosts).
func (s *Services) authenticated(next handler) handler {
	return func(r *request) (err error) {
		path := r.Request().URL.Path
		if (path == graphqlPath || published[path] != "") && r.contract != "" {
			if err := r.agreed(); err != nil {
				return err
			}
		}
		if path == graphqlPath && s.GraphQL != nil && r.Request().Method != http.MethodGet {
			s.GraphQL.ServeHTTP(r.Response(), r.Request()) // it finds the caller itself, and knows more methods than the router
			return nil
		}

		if published[path] != "" || s.shows(path) || path == HealthPath || path == ReadyPath || path == graphqlPath && s.GraphQL != nil {
			if err := s.Hosts.Check(s.Proxies.Host(r.Request())); err != nil {
				return err
			}
			return next(r)
		}

		if s.Controls != nil && isInbox(path) || isArtifact(path) {
			return next(r) // who delivers webhooks has no key; the address of an artifact is one
		}
		if s.led(r.Request()) {
			r.Response().Header().Set(echo.HeaderVary, echo.HeaderAccept)
			return r.Redirect(http.StatusFound, s.Home)
		}
		r.caller.Key, r.caller.bearer, err = s.Keyring.Authenticate(r.Request().Context(), authorization(r.Request()), isQueuePath(path))
		if err != nil {
			s.refusedKey(r, err)
			return err
		}
		r.record.By(r.caller.Key)
		if r.caller.SpendLimit > 0 {
			r.SetRequest(r.Request().WithContext(control.WithSpendLimit(contextOf(r), r.caller.Key)))
		}
		r.strange = r.agreed() // refused in its turn, see before
		if err := s.resolveFlash(r); err != nil {
			return err
		}

		return next(r)
	}
}

// shows reports whether there is a page at the path, or what one loads: anybody may read it.
func (s *Services) shows(path string) bool {
	return s.Docs[path] != nil || s.Console != nil && (path == consolePath || strings.HasPrefix(path, consolePath+"/"))
}

// led reports whether the request is that of a browser for the root, which has nothing but is what people type in (rule bounds.root).
func (s *Services) led(r *http.Request) bool {
	return r.URL.Path == "/" && s.Home != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && asksForHTML(r.Header)
}

// asksForHTML reports whether a page is asked for by name: browsers do, and other clients take anything.
func asksForHTML(h http.Header) bool {
	for kind := range strings.SplitSeq(strings.Join(h.Values(echo.HeaderAccept), ","), ",") {
		if name, parameters, err := mime.ParseMediaType(kind); err == nil && name == echo.MIMETextHTML {
			q, err := strconv.ParseFloat(parameters["q"], 64)
			return err != nil || q > 0
		}
	}
	return false
}

// underWay counts the requests that are worked at, but for those about the clock itself, of which one that sleeps counts, for webhooks, whose
// sender asks for nothing more, and for events, which have no end.
func (s *Services) underWay(next handler) handler {
	return func(r *request) error {
		if path := r.Request().URL.Path; strings.HasPrefix(path, clockPath) && path != clockPath+"/sleep" || isInbox(path) || path == eventsPath {
			defer func() { r.isOver() }()
			return next(r)
		}
		answered, over := s.Controls.Request()
		defer over()
		r.over = over
		r.Response().Before(func() {
			if !r.kept { // else it is answered when it is over
				answered()
			}
		})
		return next(r)
	}
}

// count has a request that does not count be under way from now on, until over is called: it meets a fault, and the sleep of that counts.
func (s *Services) count() (over func()) {
	if s.Controls == nil {
		return func() {}
	}
	_, over = s.Controls.Request()
	return over
}

const clockPath = "/_berth/clock"

// operations makes the front of each operation.
func (s *Services) operations(editions []validate.Edition, scope func(validate.Op, echo.Context) compute.Scope) map[string][]echo.MiddlewareFunc {
	middlewares := map[string][]echo.MiddlewareFunc{}
	for id, op := range ofAny(editions) {
		_, ours := controls.Ops[id]
		ours = ours && !op.Open // one that is open is there for others than the test
		f := &front{
			s, id, op, make([]*validate.Op, len(editions)), scope, onePod(op.Path), ofJobs(op.Path), ours && tells(op), op.Path == eventsPath || op.Path == auditPath, ofAnybody(op),
			ours, (ours || isREST(id)) && op.Method != http.MethodGet,
		}
		for i, e := range editions {
			if op, ok := e.Ops[id]; ok {
				f.ops[i] = &op
			}
		}
		middlewares[id] = []echo.MiddlewareFunc{once(f.before)}
	}
	return middlewares
}

// once has a middleware of one operation make its handler once: echo would have it made for each request.
func once(m echo.MiddlewareFunc) echo.MiddlewareFunc {
	var first sync.Once
	var made echo.HandlerFunc
	return func(handle echo.HandlerFunc) echo.HandlerFunc {
		first.Do(func() { made = m(handle) })
		return made
	}
}

// front is what stands before an operation.
type front struct {
	*Services
	id    string
	op    validate.Op    // as the first edition that has it has it
	ops   []*validate.Op // as each edition has it; nil: it does not
	scope func(validate.Op, echo.Context) compute.Scope
	pod   string // the parameter of its path that names the one pod that it is about; empty: it is about none, or several
	jobs  bool   // it is about jobs of whatever endpoints: those that the key may read
	tells bool   // it is one of the controls that a key of the test controls may use as its owner
	hosts bool   // it tells of hosts, too, those who may read these
	any   bool   // it is for every key
	ours  bool   // it is one of the controls, which meet no fault: or a test could not take its faults back
	noted bool   // what it changes is noted in the audit log
}

// onePod gives the parameter of a path that names the one pod that it is about; empty if it is about none.
func onePod(path string) string {
	switch {
	case strings.HasPrefix(path, "/v2/pods/{id}"):
		return "id"
	case path == whyPodPath, path == podHistoryPath, path == execPodPath, path == logsPath:
		return "podId"
	}
	return ""
}

// permitted holds the key against the scope that the operation takes. A key for single pods may do what is about one pod: any
// pod but its own is somebody else's to it, and 404 in its turn (rules auth.scopes.pod, auth.scopes.pod.other).
func (f *front) permitted(r *request) error {
	r.front, r.want = f, f.scope(f.op, r)
	if f.allows(r.caller.Key, r.want) {
		return nil
	}
	if err := f.permits(r.caller.Key, r.want); err != nil {
		return err
	}
	r.caller.UserID = r.caller.UserFor(compute.PodID(r.Param(f.pod)), r.want)
	return nil
}

// permits refuses a key that may not do the operation, whatever it is about.
func (f *front) permits(key compute.Key, want compute.Scope) error {
	if f.allows(key, want) || f.pod != "" && key.HasPods() {
		return nil
	}
	return key.LacksScope(want)
}

// allows reports whether anybody may do the operation, or the key to whatever pod of its user.
func (f *front) allows(key compute.Key, want compute.Scope) bool {
	return f.op.Open || f.any || key.Allows(want) || f.jobs && key.Invokes() || f.tells && key.Allows(compute.ScopeControls) || f.hosts && key.Allows(compute.ScopeAdmin)
}

// before checks scope, rate limit, edition, size, media type, syntax and schema, in this order (rules errors.order.*). Faults stand before the
// size.
func (f *front) before(handle echo.HandlerFunc) echo.HandlerFunc {
	next := func(c echo.Context) error {
		r := requestOf(c)
		if f.noted {
			f.actor(r, f.id)
		}
		err := handle(r)
		if err != nil { // what the key may not do may depend on more than the path
			f.refusedKey(r, err)
		}
		return err
	}
	return func(c echo.Context) error {
		r := requestOf(c)
		r.unescape()
		op, err := f.in(r)
		if err != nil {
			return err
		}
		if err := f.permitted(r); err != nil {
			f.refusedKey(r, err)
			return err
		}
		if err := limited(r); err != nil {
			return err
		}
		if err := f.limitedQueue(f.id, r); err != nil {
			return err
		}
		if r.strange != nil {
			return r.strange
		}

		defer r.letGo()
		if r.over != nil && f.secret.Streams(f.id) {
			r.over() // it has no end to wait for
		}
		if f.ours || f.Faults.None() {
			if err := f.accepted(op, r); err != nil {
				return err
			}
			return next(r)
		}
		return f.met(op, r, next)
	}
}

// accepted is checked, or what stands in its place for the operation.
func (f *front) accepted(op *validate.Op, r *request) error {
	if f.id == finishJob || f.id == streamJob {
		return f.reported(op, r)
	}
	return f.checked(op, r)
}

// checked is check, as a part of the request's trace.
func (f *front) checked(op *validate.Op, r *request) error {
	if f.Trace != nil {
		defer f.Trace.Part(contextOf(r), "validation")()
	}
	return f.check(op, r)
}

// check has the generated validator check the request, and leaves the decoded body for the handler.
func (s *Services) check(op *validate.Op, r *request) error {
	sent := r.Request()
	if op.HasBody {
		if err := s.read(op, r); err != nil {
			return err
		}
	}

	violations := op.Params(r.Param, sent.URL.RawQuery, sent.Header.Values)
	if op.HasBody {
		decoded, more, err := op.Decode(r.raw)
		if err != nil {
			return &compute.Error{Code: compute.Rejected, Detail: "the body is not valid JSON: " + err.Error(), Cause: err}
		}
		r.body, violations = decoded, append(violations, more...)
	}

	if len(violations) == 0 {
		return nil
	}
	e := compute.Errorf(compute.Invalid, "the request breaks its schema in %d place", len(violations))
	if len(violations) > 1 {
		e.Detail += "s"
	}
	for _, v := range violations {
		e.Fields = append(e.Fields, v.Of(rest.Editions[r.edition].Name)+near(v, r.body))
	}

	return e
}

// isQueuePath distinguishes the paths of the queue and of workers from those of REST: /v2/<endpoint>/<operation>.
func isQueuePath(path string) bool {
	rest, ok := strings.CutPrefix(path, "/v2/")
	if !ok {
		return false
	}
	first, _, more := strings.Cut(rest, "/")
	return more && !compute.Reserved(first)
}

// isOpenAIPath reports whether the path is one of the OpenAI API: /v2/<endpoint>/openai/<route>.
func isOpenAIPath(path string) bool {
	_, operation, _ := strings.Cut(strings.TrimPrefix(path, "/v2/"), "/")
	return isQueuePath(path) && strings.HasPrefix(operation, "openai/")
}

// contextOf gives the request's context.
func contextOf(c echo.Context) context.Context { return c.Request().Context() }
