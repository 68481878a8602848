// Package httpapi is the HTTP edge: it authenticates, has the generated validators check, calls one use case and writes
// what it gave. It decides nothing. Echo v4 routes and binds (the server interface is generated for it).
package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
	"github.com/berthdev/berth/impl/limit"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/seed"
	"github.com/berthdev/berth/impl/shell"
	"github.com/berthdev/berth/impl/validate"
	"github.com/berthdev/berth/impl/why"
	"github.com/berthdev/berth/spec"
)

// Services are what the edge calls.
type Services struct {
	Control     *control.Control
	Pods        Pods
	Endpoints   *control.Endpoints
	Workers     Workers
	Builds      Builds
	Scripts     *control.Scripts
	Shells      *shell.Shells
	SSHPort     int                                            // at which users log in to their pods; 0: they do not
	QueueURL    func(*http.Request) string                     // base of the queue for who sent the request, without a slash at the end
	BaseURL     func(*http.Request, compute.EndpointID) string // base of an endpoint that balances load, likewise
	PodAddress  func(*http.Request) compute.PodAddress         // where HTTP ports of pods are, likewise
	Balanced    Balanced
	Registries  *control.Registries
	Secrets     *control.Secrets
	Queue       *jobs.Queue
	Changes     *changes.Log // of everything; nil: nobody follows them
	History     *history.History
	Why         *why.Reasons
	Keyring     *control.Keyring
	Refusals    *audit.Refusals // who is refused; nil: nobody counts
	Rates       *control.Rates
	QueueRates  *control.QueueRates
	IDs         *compute.IDs
	Clock       compute.Clock
	Log         *slog.Logger
	Ready       func(context.Context) error // reports whether the store answers
	Draining    context.Context             // ends when answers without an end are to end
	Bodies      *limit.Bodies               // reads the bodies of requests
	Archives    *limit.Archives             // keeps what is to be built
	Connections int                         // that there may be; 0: as many as come
	Artifacts   *limit.Artifacts            // keeps what flash apps are made of
	Flash       *control.Flash
	Answers     *limit.Answers // bounds the memory of large answers
	Hosts       *limit.Hosts   // names under which is shown what asks for no key
	Proxies     *limit.Proxies // proxies that say what the client asked for; nil: there are none

	Trouble   func() error                 // reports why the storage takes no writes; nil: it always does
	Reachable func(context.Context) error  // reports whether what pods and workers run on answers; nil: it always does
	Leaving   func() bool                  // reports whether the server is about to stop; nil: it never is
	Meter     func(operation string) Meter // makes the meter of an operation; nil: nobody counts
	Trace     Trace                        // nil: nobody follows requests

	Controls Controls         // nil: there are no test controls
	Version  string           // of the program
	Runtime  string           // the name of what pods and workers run on
	Simulate bool             // it runs nothing really
	Journal  *journal.Journal // of the requests, where there are test controls; nil: one with the default bounds
	Faults   *fault.Script    // nil: there are none
	GraphQL  GraphQL          // nil: it is not served

	Docs map[string]http.Handler // the reference pages and what they load, by path; anybody may read them
	Home string                  // the page to which a browser is led that asks for /

	Console http.Handler // answers /console and all below it, which anybody may read; nil: there is none

	Seed  *seed.Seed     // what there is from the start and after a reset; nil: nothing
	Owner compute.UserID // whose its items are that name no user

	Contract string // the edition of the contract for who names none; empty: that of the documents themselves

	refusals *refusals
	dates    *dates
	follows  *streams // streams of events
	tails    *streams // logs that are followed
	held     *streams // requests that wait for jobs
	polls    *streams // takes of workers and their questions what to stop, with those of held
	routes   map[route]*operation
	unknown  *operation
	edition  int            // of Contract
	secret   *bodies.Bodies // what is secret in bodies; nil: requests are not recorded
}

// GraphQL answers at /graphql. It authenticates by itself.
type GraphQL interface {
	http.Handler
	// Operations gives the names under which a fault can be scripted.
	Operations() []string
	// Recorded gives what a body asks for, nil if that cannot be read, and the body without what is secret in it.
	Recorded(body []byte) (asked *journal.Document, masked []byte, answer journal.Secrets)
}

// Pods reports what pods do.
type Pods interface {
	// Live reports what a pod was last seen to do. It asks nobody, so that a list of thousands costs little.
	Live(compute.PodID) compute.PodRuntime
	// OpenLog gives what reads the pod's log once, until the pod is terminated.
	OpenLog(ctx context.Context, id compute.PodID, q compute.LogQuery) (compute.ReadLog, error)
}

// Workers reports what workers do.
type Workers interface {
	// OpenLog gives what reads the log of a worker of the endpoint once, until the worker has ended.
	OpenLog(ctx context.Context, e compute.Endpoint, id compute.WorkerID, q compute.LogQuery) (compute.ReadLog, error)
}

// Balanced tells where workers of endpoints that balance load are reached.
type Balanced interface {
	// Address gives host and port; empty: nobody knows.
	Address(compute.EndpointID, compute.WorkerID) string
}

// Handler answers the requests of all interfaces.
type Handler struct {
	*echo.Echo
	services *Services
}

// ServeHTTP answers a request, however its path is escaped.
func (h *Handler) ServeHTTP(w http.ResponseWriter, sent *http.Request) {
	h.Echo.ServeHTTP(w, plain(sent))
}

// New makes the handler of all interfaces.
func New(s Services) (*Handler, error) {
	s.refusals, s.dates = &refusals{}, &dates{}
	s.follows = newStreams("streams of events", eventsOfKey, eventsInAll)
	s.tails = newStreams("logs that are followed", logsOfKey, logsInAll)
	most := cmp.Or(s.Connections*3/4, waitingInAll)
	s.polls = newStreams("requests that wait for jobs, and polls of workers", most, waitingInAll)
	s.held = newStreams("requests that wait for jobs", min(heldOfKey, most), heldInAll)
	s.held.with = s.polls
	var ok bool
	if s.edition, ok = editionNamed(s.Contract); !ok && s.Contract != "" {
		return nil, noEdition(s.Contract)
	}
	s.observed()
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.JSONSerializer = serializer{}
	answer := s.recovered(s.limited(s.authenticated(s.counted(s.routed))))
	if s.Controls != nil {
		s.record()
		answer = s.underWay(s.recorded(answer))
	}
	front := s.logged(answer)
	e.Use(func(echo.HandlerFunc) echo.HandlerFunc { return front }) // made once: echo calls a middleware for each request
	documents(e)
	for path, page := range s.Docs {
		show(e, path, echo.WrapHandler(page))
	}
	if s.Console != nil {
		show(e, consolePath, echo.WrapHandler(s.Console))
		show(e, consolePath+"/*", echo.WrapHandler(s.Console))
	}
	show(e, HealthPath, s.healthz)
	show(e, ReadyPath, s.readyz)
	if s.GraphQL != nil {
		e.Match([]string{http.MethodGet, http.MethodPost}, graphqlPath, echo.WrapHandler(s.GraphQL))
	}

	e.RouteNotFound(v1Path, refuseV1)
	e.RouteNotFound(v1Path+"/*", refuseV1)
	rest.RegisterHandlersWithOptions(e, restHandlers{&s}, rest.RegisterHandlersOptions{
		OperationMiddlewares: s.operations(rest.Editions, func(op validate.Op, _ echo.Context) compute.Scope {
			if op.Method == http.MethodGet {
				return compute.ScopeRESTRead
			}
			return compute.ScopeRESTWrite
		}),
	})

	permit(e, "/v2/registries/delegations", http.MethodGet, http.MethodPost)
	permit(e, "/v2/registries/delegations/:id", http.MethodDelete)
	queue.RegisterHandlersWithOptions(e, queueHandlers{&s}, queue.RegisterHandlersOptions{
		OperationMiddlewares: s.operations(queue.Editions, func(_ validate.Op, c echo.Context) compute.Scope {
			return compute.ScopeInvoke(compute.EndpointID(c.Param("endpointId")))
		}),
	})

	for _, op := range ofAny(queue.Editions) { // or the one that takes every route would take these too
		if strings.HasPrefix(op.Path, openAIPaths) && !strings.HasSuffix(op.Path, "}") {
			permit(e, strings.Replace(op.Path, "{endpointId}", ":endpointId", 1), op.Method)
		}
	}

	worker.RegisterHandlersWithOptions(e, workerHandlers{&s}, worker.RegisterHandlersOptions{
		OperationMiddlewares: s.operations(inAll(worker.Ops), func(_ validate.Op, c echo.Context) compute.Scope {
			return compute.ScopeWork(compute.EndpointID(c.Param("endpointId")))
		}),
	})

	if s.Controls != nil {
		permit(e, "/_berth/journal/verify", http.MethodPost)
	}
	s.buildRoutes(e)
	s.artifactRoutes(e)
	controls.RegisterHandlersWithOptions(e, controlsHandlers{&s}, controls.RegisterHandlersOptions{OperationMiddlewares: s.controlOperations()})

	return &Handler{e, &s}, nil
}

// show answers GET and HEAD, with which balancers and checkers of links ask for what anybody may read (rule bounds.head). net/http leaves out
// the body of an answer to HEAD.
func show(e *echo.Echo, path string, page echo.HandlerFunc) {
	e.Match([]string{http.MethodGet, http.MethodHead}, path, page)
}

// permit refuses all but the methods at a path that the router would else take for another one: it goes on to
// /v2/registries/:id, whose id may have slashes, where a method is missing.
func permit(e *echo.Echo, path string, methods ...string) {
	refuse := func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, strings.Join(methods, ", "))
		return echo.ErrMethodNotAllowed
	}
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if !slices.Contains(methods, m) {
			e.Add(m, path, refuse)
		}
	}

	e.OPTIONS(path, func(c echo.Context) error { // the router would name those that are refused
		c.Response().Header().Set(echo.HeaderAllow, strings.Join(append([]string{http.MethodOptions}, methods...), ", "))
		return c.NoContent(http.StatusNoContent)
	})
}

const (
	openAIPaths = "/v2/{endpointId}/openai/"
	graphqlPath = "/graphql"
	consolePath = "/console"
	docsPath    = "/docs" // Docs are there and below
)

// Paths that ask for no key, and that each of several servers of one store answers itself.
const (
	HealthPath = "/healthz" // 200 while the store answers
	ReadyPath  = "/readyz"  // 200 while the server can do its work and goes on doing it
)

// published are the paths of the documents, which anybody may read: in the edition that the query names as contract, or else the header.
var published = map[string]string{
	"/v2/openapi.json":       "rest",
	"/openapi/queue.json":    "queue",
	"/openapi/worker.json":   "worker",
	"/openapi/controls.json": "controls",
}

func documents(e *echo.Echo) {
	for path, name := range published {
		show(e, path, func(c echo.Context) error {
			r := requestOf(c)
			if asked := c.QueryParam("contract"); asked != "" {
				edition, ok := editionNamed(asked)
				if !ok {
					return noEdition(asked)
				}
				r.answerIn(edition)
			}

			document, err := spec.JSON(name, rest.Editions[r.edition].Name)
			if err != nil {
				return err
			}
			c.Response().Header().Set(echo.HeaderVary, contractHeader)
			return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, document)
		})
	}
}
