package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
)

// passage is a request that goes to a pod or a worker, on its way into the journal. Nothing is held up for it.
type passage struct{ exchanging }

// Record has the journal keep a request to a pod or a worker, and its answer (rule controls.journal.proxy). It is for servers with test controls.
func (h *Handler) Record(w http.ResponseWriter, r *http.Request, operation string, resources ...journal.Resource) (http.ResponseWriter, *http.Request, func()) {
	x := &passage{}
	x.exchanging = h.services.exchanging(w, r, x.known)
	x.exchange.Operation, x.exchange.Resources = operation, resources
	with := r.WithContext(journal.With(r.Context(), x.record))
	if r.Body != nil && r.Body != http.NoBody {
		with.Body = recordedBody{&x.exchanging, r.Body}
	}
	return x, with, x.end
}

// Hijack notes that the connection is taken over: what is said on it is not seen.
func (x *passage) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, both, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err == nil {
		x.mu.Lock()
		x.exchange.Status = http.StatusSwitchingProtocols
		x.mu.Unlock()
	}
	return conn, both, err
}

// upgraded reports whether the connection was taken over.
func (x *passage) upgraded() bool { return x.status() == http.StatusSwitchingProtocols }

// known completes what is kept.
func (x *passage) known(e *journal.Exchange) {
	if e.Status == http.StatusSwitchingProtocols {
		e.Response.Headers = x.Header().Clone()
	}
	if id := http.Header(e.Response.Headers).Get(workerIDHeader); id != "" && e.Operation == journal.OperationProxyEndpoint {
		e.Resources = append(e.Resources, journal.Resource{Kind: "worker", ID: id})
	}
}

// workerIDHeader names the worker that answered.
const workerIDHeader = "X-Runpod-Worker-Id"

// Meet has do answer a request to a pod or a worker between the faults before it and after it (rule controls.faults.proxy).
func (h *Handler) Meet(w http.ResponseWriter, r *http.Request, operation string, key compute.KeyID, resources []journal.Resource, do http.HandlerFunc) {
	s := h.services
	if s.Faults.None() {
		do(w, r)
		return
	}

	over := func() {}
	defer func() { over() }()
	call := fault.Call{
		Operation: operation, Resources: resources, KeyID: key, Body: func() []byte { return peek(r) },
		Meets: func() { over = s.count() },
	}
	shown, err := s.Faults.Show(r.Context(), call, s.Clock, s.Log)
	if r.Header.Get("Upgrade") != "" {
		over() // it may last
	}
	if err == nil {
		err = s.passed(w, r, shown, call, do)
	}
	answer, scripted := errors.AsType[*fault.Answer](err)
	switch {
	case err == nil:
	case !scripted: // nobody waits for an answer
		panic(http.ErrAbortHandler)
	default:
		p := problemOf(answer)
		if p.RetryAfter != "" {
			w.Header().Set(echo.HeaderRetryAfter, p.RetryAfter)
		}
		writeProblem(w, r, p.Status, rest.Problem{Title: p.Title, Status: int64(p.Status), Detail: p.Detail})
	}
}

// passed has do answer, and the faults after it become of that.
func (s *Services) passed(w http.ResponseWriter, r *http.Request, shown bool, call fault.Call, do http.HandlerFunc) error {
	held := s.Faults.Hold(r.Context(), w, shown, s.Clock, s.Log, call)
	if held == nil {
		do(w, r)
		return nil
	}
	do(held, r)
	if x, is := w.(*passage); is && x.upgraded() {
		return nil
	}
	return held.End()
}

// mostPeeked is how much of a body is held against the values of faults, in bytes: one that is longer matches none.
const mostPeeked = 1 << 20

// peek gives the beginning of the body of a request, which is as it was.
func peek(r *http.Request) []byte {
	if r.Body == nil {
		return nil
	}
	begun, err := io.ReadAll(io.LimitReader(r.Body, mostPeeked+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failing{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begun), rest), r.Body}
	return begun
}

// failing is a body that cannot be read.
type failing struct{ err error }

// Read gives the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
