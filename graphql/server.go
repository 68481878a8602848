// Package graphql is the GraphQL edge: it authenticates, bounds and checks the document, calls the use cases that REST
// calls, and writes what they gave. It decides nothing. Gqlgen executes (its code is generated from spec/graphql); reading
// the request is ours, since its transport answers other statuses and repeats the body in its errors.
package graphql

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/problem"
)

// Limits bound what one document may ask for.
type Limits struct {
	Tokens  int   // of the document
	Depth   int   // of nested fields
	Fields  int   // with those of fragments, each time they are used: the complexity
	Aliases int   // fields under another name
	Values  int   // of the answer, about; without a key a quarter at most
	Body    int64 // bytes
}

// WithDefaults puts the default in place of each zero. It holds every document of the known clients.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Tokens: cmp.Or(l.Tokens, 5_000), Depth: cmp.Or(l.Depth, 20), Fields: cmp.Or(l.Fields, 500),
		Aliases: cmp.Or(l.Aliases, 50), Values: cmp.Or(l.Values, 100_000), Body: cmp.Or(l.Body, 1<<20),
	}
}

// Services are what the edge calls and how it is set.
type Services struct {
	Control       *control.Control
	Endpoints     *control.Endpoints
	Registries    *control.Registries
	Secrets       *control.Secrets
	Flash         *control.Flash
	Logins        *control.Logins
	BaseURL       func(*http.Request) string             // of all interfaces for who sent the request, without a slash at the end
	Host          func(*http.Request) string             // the name under which who sent the request reached this server, without a port
	Live          func(compute.PodID) compute.PodRuntime // what a pod was last seen to do, without asking anybody
	Keyring       *control.Keyring
	Faults        *fault.Script  // that operations show; nil: none
	Bodies        *limit.Bodies  // reads the bodies of requests
	Answers       *limit.Answers // bounds the memory of answers while they are made
	Clock         compute.Clock
	Log           *slog.Logger
	Limits        Limits
	Client        func(*http.Request) string // gives the address of a client
	Refused       func(*http.Request, error) // notes that a key was refused; nil: nobody does
	Introspection bool
	Playground    bool // GET answers a page to try queries on
}

// Handler answers POST /graphql.
type Handler struct {
	Services
	exec      *executor.Executor
	anonymous *limit.Processor // what those without a key may take together (rule graphql.anonymous.processor)
}

// All documents that come without a key have half of one processor, and two seconds of it after a pause.
const (
	anonymousShare = 0.5
	anonymousBurst = 2 * time.Second
)

// New makes the handler.
func New(s Services) *Handler {
	h := &Handler{Services: s, anonymous: limit.NewProcessor(anonymousShare, anonymousBurst)}
	h.exec = executor.New(graph.NewExecutableSchema(graph.Config{Schema: schema(), Resolvers: resolvers{s}}))
	h.exec.SetParserTokenLimit(s.Limits.Tokens)
	h.exec.SetDisableSuggestion(true)
	h.exec.SetDefaultRulesFn(validation)
	h.exec.SetErrorPresenter(h.present)
	h.exec.SetRecoverFunc(func(_ context.Context, r any) error { return fmt.Errorf("panic: %v\n%s", r, debug.Stack()) })
	h.exec.Use(gate{s})
	return h
}

// schema gives the schema, parsed when it is first needed. It has no directive defer, which the libraries add: an answer is one.
var schema = sync.OnceValue(func() *ast.Schema {
	s := graph.NewExecutableSchema(graph.Config{}).Schema()
	delete(s.Directives, "defer")
	return s
})

// validation gives the rules that documents are held against. None suggests names of the schema (rule graphql.suggestions); the executor has
// taken care of fields by itself.
func validation() *rules.Rules {
	all := rules.NewDefaultRules()
	for name, plain := range map[string]validator.Rule{
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRule.Name: rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		all.ReplaceRule(name, plain.RuleFunc)
	}
	return all
}

//go:embed playground.html
var playground []byte

// call is what a resolver may ask about the request.
type call struct {
	key       *compute.Key // nil: none was sent
	request   *http.Request
	requestID string
	client    string       // its address
	lists     lists        // that were read
	values    int          // that the answer has, about; 0: the document is not valid
	body      []byte       // as it was sent, until its memory is given back
	shown     bool         // it met a fault before a field
	done      []fault.Call // of the fields that were not refused
	base      string       // of all interfaces, as the client reaches them
	host      string       // the name under which it reached this server

	reading   sync.Mutex
	endpoints []compute.Endpoint // of the user, see owned; nil: not read
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// hostOf gives the name under which the client reached this server.
func hostOf(ctx context.Context) string { return callOf(ctx).host }

// user gives whose key was sent. The gate lets nobody without a key to a resolver that asks.
func user(ctx context.Context) compute.UserID { return callOf(ctx).key.UserID }

// ServeHTTP checks in the order of REST: key, method, media type, size, syntax, document.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{request: r, requestID: w.Header().Get("X-Request-Id")}
	ctx := context.WithValue(r.Context(), callKey{}, c)
	defer func() {
		if p := recover(); p != nil {
			if cause, ok := p.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(p) // net/http's own way to cut a connection
			}
			h.refuse(ctx, w, http.StatusInternalServerError, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()

	if h.Playground && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(playground) // the client has gone
		return
	}

	key, err := h.authenticate(r)
	if err != nil {
		h.noteRefused(r, err)
		limit.Refused(w, r)
		h.refuse(ctx, w, problem.Of(err).Status, err)
		return
	}

	c.key, c.client = key, h.Client(r)
	if key != nil {
		c.base, c.host = h.BaseURL(r), h.Host(r)
		journal.Of(ctx).By(*key)
		ctx = control.WithSpendLimit(ctx, *key)
	}
	ctx = graphql.StartOperationTrace(ctx)
	h.serve(ctx, w, r)
}

// noteRefused notes that a key was refused, if the error says so.
func (h *Handler) noteRefused(r *http.Request, err error) {
	if h.Refused != nil {
		h.Refused(r, err)
	}
}

// serve reads a document and answers it. What it holds is given back before the answer is written, which may take long.
func (h *Handler) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	key := keyOf(ctx)
	params, leave, status, err := h.read(ctx, w, r)
	if leave == nil {
		limit.Refused(w, r)
	} else {
		defer leave()
	}

	if err != nil {
		h.refuse(ctx, w, status, err)
		return
	}

	over := func() {}
	if key == "" {
		if over, err = h.anonymous.Enter(ctx); err != nil {
			h.refuse(ctx, w, problem.Of(err).Status, err)
			return
		}
		defer over()
	}

	status, answer := h.execute(ctx, w.Header(), params)
	defer callOf(ctx).lists.leave() // what was read is in the answer until the client has taken it
	over()
	held := h.held(ctx, w)
	callOf(ctx).body = nil
	if leave(); answer != nil { // nil: the client has gone
		h.answer(ctx, w, held, status, answer)
	}
}

// execute gives the answer to a document: 200, or what a document that does not come to be executed gets. It is nil if the client
// has gone.
func (h *Handler) execute(ctx context.Context, header http.Header, params *graphql.RawParams) (int, *graphql.Response) {
	operation, errs := h.exec.CreateOperationContext(ctx, params)
	if len(errs) > 0 {
		h.noteRefused(callOf(ctx).request, errs[0])
		status := http.StatusBadRequest
		switch compute.CodeOf(errs[0]) {
		case compute.Unauthenticated:
			header.Set("WWW-Authenticate", "Bearer")
			status = http.StatusUnauthorized
		case compute.Forbidden:
			status = http.StatusOK
		}
		return status, h.exec.DispatchError(graphql.WithOperationContext(ctx, operation), errs[:min(len(errs), mostErrors)])
	}

	if err := h.faulty(ctx, operation); err != nil {
		of, ok := errors.AsType[*fault.Answer](err)
		if !ok {
			return 0, nil
		}
		return of.Status, h.scripted(ctx, header, of)
	}

	answered, err := h.Answers.Whole(ctx, keyOf(ctx), int64(callOf(ctx).values)*valueMemory)
	if err != nil {
		if errors.Is(err, limit.ErrBusy) {
			header.Set("Retry-After", limit.RetryAfter)
		}
		return problem.Of(err).Status, &graphql.Response{Errors: gqlerror.List{h.present(ctx, err)}}
	}
	defer answered()
	next, ctx := h.exec.DispatchOperation(ctx, operation)
	answer := next(ctx)
	if answer == nil {
		return 0, nil // the client has gone
	}

	if !h.Faults.None() {
		callOf(ctx).done = done(ctx, operation, answer.Errors)
	}
	status := http.StatusOK
	if later := retryAfter(operation, answer.Errors); later != "" {
		header.Set("Retry-After", later)
		status = http.StatusServiceUnavailable
	}
	return status, answer
}

// retryAfter gives the header Retry-After of a document of which nothing was done, since each of its fields needs what is
// unavailable for a while; empty for any other: who sends it again must not do twice what was done (rule graphql.errors.storage).
func retryAfter(o *graphql.OperationContext, errs gqlerror.List) (seconds string) {
	if len(errs) == 0 {
		return ""
	}

	missed := map[ast.PathElement]bool{}
	for _, e := range errs {
		p := problem.Of(e.Err)
		if p.RetryAfter == "" || len(e.Path) == 0 || len(e.Path) > 1 && o.Operation.Operation == ast.Mutation {
			continue
		}
		seconds, missed[e.Path[0]] = p.RetryAfter, true
	}

	for _, field := range graphql.CollectFields(o, o.Operation.SelectionSet, nil) {
		if !missed[ast.PathName(field.Alias)] {
			return ""
		}
	}

	return seconds
}

// valueMemory is about how many bytes a value takes while the answer is made.
const valueMemory = 400

// keyOf gives the id of the key; "": none was sent.
func keyOf(ctx context.Context) compute.KeyID {
	if c := callOf(ctx); c.key != nil {
		return c.key.ID
	}
	return ""
}

// refuse answers a request that has no document to execute.
func (h *Handler) refuse(ctx context.Context, w http.ResponseWriter, status int, err error) {
	if errors.Is(err, limit.ErrBusy) {
		w.Header().Set("Retry-After", limit.RetryAfter)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if later := problem.Of(err).RetryAfter; later != "" {
		w.Header().Set("Retry-After", later)
	}
	h.write(ctx, w, status, &graphql.Response{Errors: gqlerror.List{h.present(ctx, err)}})
}

// coded is an error with a code of its own, which a client compares.
type coded struct {
	error
	code string
}

func (c *coded) Unwrap() error { return c.error }

// present makes the error that the wire shows: the code of the table and words, or for an unknown error neither.
func (h *Handler) present(ctx context.Context, err error) *gqlerror.Error {
	e := &gqlerror.Error{Path: graphql.GetPath(ctx), Err: err}
	var document *gqlerror.Error
	var own *compute.Error
	if !errors.As(err, &own) && errors.As(err, &document) {
		switch document.Extensions["code"] {
		case errcode.ParseFailed:
			own = compute.Errorf(compute.Rejected, "%s", document.Message)
		case errcode.ValidationFailed:
			own = compute.Errorf(compute.Invalid, "%s%s", ofVariable(document), document.Message)
		}
		if own != nil {
			e.Locations, e.Path, err = document.Locations, document.Path, own
		}
	}

	if len(e.Path) > 0 && e.Path[0] == inVariables {
		e.Path = nil // it is none of the answer
	}
	p := problem.Of(err)
	if of, ok := errors.AsType[*fault.Answer](err); ok {
		p = problem.Problem{Code: problem.CodeFor(of.Status), Detail: of.Error()}
	} else if p.Code == compute.Internal && ctx.Err() == nil {
		h.Log.Error("request failed", "request", callOf(ctx).requestID, "operation", "graphql", "route", "/graphql", "path", e.Path.String(), "error", err)
	}

	e.Message = p.Detail
	e.Extensions = map[string]any{"code": string(p.Code)}
	if own, ok := errors.AsType[*coded](err); ok {
		e.Extensions["code"] = own.code
	}
	if p.RetryAfter != "" {
		e.Extensions["title"] = p.Title
	}
	if len(p.Errors) > 0 {
		e.Extensions["errors"] = slices.Clone(p.Errors)
	}

	return e
}

// inVariables begins the paths that the library gives for what is wrong with variables.
const inVariables = ast.PathName("variable")

// ofVariable says at which place in the variables something is wrong, for the words of an error; empty: it is wrong elsewhere.
func ofVariable(e *gqlerror.Error) string {
	if len(e.Path) < 2 || e.Path[0] != inVariables {
		return ""
	}
	return "$" + e.Path[1:].String() + ": "
}

// write writes an answer. A long text is in memory only if there is room for it (rule bounds.texts).
func (h *Handler) write(ctx context.Context, w http.ResponseWriter, status int, answer *graphql.Response) {
	before, after := textOf(answer)
	kept, err := h.Bodies.Text(keyOf(ctx), answer.Data)
	answer.Data = nil
	if err != nil {
		h.refuse(ctx, w, problem.Of(err).Status, err)
		return
	}
	defer kept.Close()

	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(before)+kept.Size()+len(after)))
	w.WriteHeader(status)
	if _, err := io.WriteString(w, before); err != nil {
		return // the client has gone
	}
	if kept.Write(w) == nil {
		_, _ = io.WriteString(w, after)
	}
}

// textOf makes JSON of the answer without escaping < > &, and gives what comes before and after its data. Of an answer without errors,
// encoding/json would only read again what gqlgen has written: that was a twelfth of the processor time of a list of 100 pods, when gqlgen
// still wrote each field of it (package plain). Of any other all becomes data.
func textOf(answer *graphql.Response) (before, after string) {
	if answer.Data != nil && len(answer.Errors) == 0 && len(answer.Extensions) == 0 {
		return `{"data":`, "}\n"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer) // into memory
	answer.Data = b.Bytes()
	return "", ""
}
