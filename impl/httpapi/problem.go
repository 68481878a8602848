package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/encode"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/problem"
)

const problemJSON = "application/problem+json"

// statusGone is the status, of no standard but widely used, of a request whose client did not wait for the answer.
const statusGone = 499

// writeError is the only place that writes a failure. Queue and worker paths get a body without an integer status, which
// one official client would take for a job's status and poll on (rule queue.errors.body); those of the OpenAI API have the
// error object that its clients read (rule openai.errors.body).
func (s *Services) writeError(err error, r *request) {
	if r.Response().Committed {
		return
	}
	if errors.Is(err, errGone) || errors.Is(err, context.Canceled) && r.Request().Context().Err() != nil {
		// The client has gone, or sends no more: one that still reads must not take an empty answer for a success.
		gone := problem.Problem{Entry: problem.Entry{Status: statusGone, Title: "Client Closed Request"}, Detail: "the connection was closed before the answer"}
		writeProblem(r.Response(), r.Request(), gone.Status, problemBody(gone, r.Request().URL.Path))
		return
	}

	if !r.read {
		limit.Refused(r.Response(), r.Request())
	}
	p := problemOf(err)
	ofWorker, isOfWorker := errors.AsType[*workerError](err)
	busy := errors.Is(err, limit.ErrBusy)
	if busy {
		r.Response().Header().Set(echo.HeaderRetryAfter, limit.RetryAfter)
	}
	if p.Status >= http.StatusInternalServerError && !isOfWorker && !busy && !s.isLogged(err, p) {
		s.logFailure(r, "request failed", err)
	}
	if p.RetryAfter != "" {
		r.Response().Header().Set(echo.HeaderRetryAfter, p.RetryAfter)
	}
	if p.Status == http.StatusUnauthorized {
		r.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
	}

	body := problemBody(p, r.Request().URL.Path)
	if isOfWorker {
		body = queue.OpenAIProblem{Title: p.Title, Detail: p.Detail, Error: ofWorker.object}
	}
	writeProblem(r.Response(), r.Request(), p.Status, body)
}

// problemBody gives a failure as the interface of that path says it.
func problemBody(p problem.Problem, path string) any {
	switch {
	case isOpenAIPath(path):
		return queue.OpenAIProblem{Title: p.Title, Detail: p.Detail, Error: openAIError(p), Errors: p.Errors}
	case isQueuePath(path):
		return queue.Problem{Title: p.Title, Detail: p.Detail, Error: p.Detail, Errors: p.Errors}
	default:
		return rest.Problem{Title: p.Title, Status: int64(p.Status), Detail: p.Detail, Errors: p.Errors}
	}
}

func writeProblem(w http.ResponseWriter, r *http.Request, status int, body any) {
	w.Header().Set(echo.HeaderContentType, problemJSON)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = writeJSON(w, body) // the client has gone
	}
}

// Refuse answers a request with a failure that was found before it came here, as the interface of its path says it.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	limit.Refused(w, r)
	p := problemOf(err)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p = problemOf(errSlow)
	}
	if p.RetryAfter != "" {
		w.Header().Set(echo.HeaderRetryAfter, p.RetryAfter)
	}
	writeProblem(w, r, p.Status, problemBody(p, r.URL.Path))
}

// isLogged reports whether a refusal is one of many that are logged once: the server drains, or its storage is in trouble.
func (s *Services) isLogged(err error, p problem.Problem) bool {
	return errors.Is(err, errDraining) || errors.Is(err, errLogged) || p.Code == compute.Unavailable && s.Trouble != nil && s.Trouble() != nil
}

// problemOf adds to the table what only HTTP knows: 404 and 405 of the router, 408, 410, 413, 415.
func problemOf(err error) problem.Problem {
	if of, ok := errors.AsType[*fault.Answer](err); ok {
		return problem.Problem{Entry: problem.Entry{Status: of.Status, Title: cmp.Or(http.StatusText(of.Status), "Scripted Fault")}, Detail: of.Error(), RetryAfter: of.RetryAfter()}
	}
	if of, ok := errors.AsType[*workerError](err); ok {
		return problem.Problem{Entry: problem.Entry{Status: of.status, Title: cmp.Or(http.StatusText(of.status), "Worker Error")}, Detail: of.message}
	}

	if of, ok := errors.AsType[*retiredError](err); ok {
		return of.Problem()
	}

	he, ok := errors.AsType[*echo.HTTPError](err)
	if _, own := errors.AsType[*compute.Error](err); own || !ok {
		return problem.Of(err)
	}

	p := problem.Problem{Entry: problem.Entry{Status: he.Code, Title: http.StatusText(he.Code)}}
	switch he.Code {
	case http.StatusNotFound:
		p.Detail = "there is nothing at this path"
	case http.StatusMethodNotAllowed:
		p.Detail = "the path does not know this method; the Allow header lists those that it knows"
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		p.Detail, _ = he.Message.(string)
	case http.StatusBadRequest: // the generated binding, should it see a fault that the validator did not
		return problem.Of(&compute.Error{Code: compute.Invalid, Detail: "a parameter breaks its schema", Cause: err})
	default:
		return problem.Of(err)
	}

	return p
}

// serializer writes JSON without escaping < > &: outputs are carried as they came.
type serializer struct{ echo.DefaultJSONSerializer }

// Serialize writes v, which echo answers with by itself.
func (serializer) Serialize(c echo.Context, v any, _ string) error {
	return writeJSONIn(c.Response(), v, editionOf(c))
}

// texts are buffers of answers. An answer is written at once, so that a short one gets its length.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// inEditions is an answer that not all editions have alike.
type inEditions interface {
	AppendEdition(dst []byte, edition int) []byte
}

// writeJSON writes v and the end of the line, by its generated encoder if it has one. It is for what all editions have alike.
func writeJSON(w io.Writer, v any) error { return writeJSONIn(w, v, strict) }

// writeJSONIn writes v as the edition has it.
func writeJSONIn(w io.Writer, v any, edition int) error {
	text := texts.Get().(*[]byte)
	var err error
	if *text, err = appendJSON((*text)[:0], v, edition); err != nil {
		return err
	}
	_, err = w.Write(*text)
	if cap(*text) <= limit.FreeText {
		texts.Put(text)
	}
	return err
}

// appendJSON appends v, as the edition has it, and the end of the line.
func appendJSON(text []byte, v any, edition int) ([]byte, error) {
	a, ok := v.(encode.Appender)
	if !ok {
		b := bytes.NewBuffer(text)
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return b.Bytes(), err
	}

	if other, ok := v.(inEditions); ok && edition != strict {
		text = other.AppendEdition(text, edition)
	} else {
		text = a.AppendJSON(text)
	}
	return append(text, '\n'), nil
}
