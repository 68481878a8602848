package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

// The names under which the front leaves things for the handlers in an echo context.
const (
	ctxCaller = "berth.caller"
	ctxBody   = "berth.body"
	ctxRaw    = "berth.raw"
	ctxLarge  = "berth.large"

	ctxExceeded = "berth.exceeded" // the compute.Rate that is exceeded, if one is
)

// caller is who asks, and how they sent their key.
type caller struct {
	compute.Key
	bearer bool
}

func callerOf(c echo.Context) caller { return c.Get(ctxCaller).(caller) }

// bodyOf gives the body that the generated validator decoded.
func bodyOf[T any](c echo.Context) T { return *c.Get(ctxBody).(*T) }

// rawBodyOf gives the body as it was sent.
func rawBodyOf(c echo.Context) []byte { return c.Get(ctxRaw).([]byte) }

// recovered turns a panic into an internal error that only the log explains.
func (s Services) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if cause, ok := r.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(r) // net/http's own way to cut a connection
			}
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}()
		return next(c)
	}
}

// authenticated finds the caller. It stands before the answers 404 and 405 (rule errors.order).
func (s Services) authenticated(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if published[path] != "" || s.Docs[path] != nil || path == healthPath || path == readyPath || path == graphqlPath && s.GraphQL != nil {
			return next(c)
		}
		key, bearer, err := s.Keyring.Authenticate(c.Request().Header.Get(echo.HeaderAuthorization), isQueuePath(path))
		if err != nil {
			return err
		}
		c.Set(ctxCaller, caller{key, bearer})
		return next(c)
	}
}

// operations makes the front of each operation: scope, rate limit, size, media type, syntax, schema, in this order (rules
// errors.order.*).
func (s Services) operations(ops map[string]validate.Op, scope func(validate.Op, echo.Context) compute.Scope) map[string][]echo.MiddlewareFunc {
	middlewares := map[string][]echo.MiddlewareFunc{}
	for id, op := range ops {
		middlewares[id] = []echo.MiddlewareFunc{func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				if want := scope(op, c); !callerOf(c).Allows(want) {
					return compute.Errorf(compute.Forbidden, "the API key lacks the scope %s", want)
				}
				if err := limited(c); err != nil {
					return err
				}
				if err := s.limitedQueue(id, c); err != nil {
					return err
				}
				if err := s.faulty(id, c); err != nil {
					return err
				}
				if size := c.Request().ContentLength; op.HasBody && (size < 0 || size > largeBody) && size <= op.MaxBody {
					leave, err := s.large.enter(contextOf(c))
					if err != nil {
						return err
					}
					defer leave()
					c.Set(ctxLarge, leave)
				}
				if err := s.checked(op, c); err != nil {
					return err
				}
				return next(c)
			}
		}}
	}
	return middlewares
}

// checked is check, as a part of the request's trace.
func (s Services) checked(op validate.Op, c echo.Context) error {
	if s.Trace != nil {
		defer s.Trace.Part(contextOf(c), "validation")()
	}
	return check(op, c)
}

// check has the generated validator check the request, and leaves the decoded body for the handler.
func check(op validate.Op, c echo.Context) error {
	r := c.Request()
	var body []byte
	if op.HasBody {
		var err error
		if body, err = readBody(c, op); err != nil {
			return err
		}
	}
	violations := op.Params(c.Param, r.URL.RawQuery, r.Header.Values)
	if op.HasBody {
		decoded, more, err := op.Decode(body)
		if err != nil {
			return &compute.Error{Code: compute.Rejected, Detail: "the body is not valid JSON: " + err.Error(), Cause: err}
		}
		violations = append(violations, more...)
		c.Set(ctxBody, decoded)
		c.Set(ctxRaw, body)
	}
	if len(violations) == 0 {
		return nil
	}
	e := compute.Errorf(compute.Invalid, "the request breaks its schema in %d place", len(violations))
	if len(violations) > 1 {
		e.Detail += "s"
	}
	for _, v := range violations {
		e.Fields = append(e.Fields, v.String())
	}
	return e
}

// readBody reads the body as far as the operation permits.
func readBody(c echo.Context, op validate.Op) ([]byte, error) {
	r := c.Request()
	tooLarge := echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over the limit of %d bytes", op.MaxBody))
	if r.ContentLength > op.MaxBody {
		return nil, tooLarge
	}
	if !op.AnyContentType {
		kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
		if err != nil || kind != echo.MIMEApplicationJSON {
			return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType, "the content type must be application/json")
		}
	}
	size := r.ContentLength
	if size < 0 {
		size = 4096
	}
	body, err := readAll(io.LimitReader(r.Body, op.MaxBody+1), int(size))
	if err != nil {
		return nil, &compute.Error{Code: compute.Rejected, Detail: "the body ended early", Cause: err}
	}
	if int64(len(body)) > op.MaxBody {
		return nil, tooLarge
	}
	return body, nil
}

// readAll reads r into one buffer made for size bytes, so that a 20 MB body is not copied while it grows.
func readAll(r io.Reader, size int) ([]byte, error) {
	b := make([]byte, 0, size+1)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// isQueuePath tells the paths of the queue and of workers from those of REST: /v2/<endpoint>/<operation>.
func isQueuePath(path string) bool {
	rest, ok := strings.CutPrefix(path, "/v2/")
	if !ok {
		return false
	}
	first, _, more := strings.Cut(rest, "/")
	return more && !compute.Reserved(first)
}

// isOpenAIPath tells the paths of the OpenAI API: /v2/<endpoint>/openai/<route>.
func isOpenAIPath(path string) bool {
	_, operation, _ := strings.Cut(strings.TrimPrefix(path, "/v2/"), "/")
	return isQueuePath(path) && strings.HasPrefix(operation, "openai/")
}

// contextOf gives the request's context.
func contextOf(c echo.Context) context.Context { return c.Request().Context() }
