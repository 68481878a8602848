package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/validate"
)

// errSlow is the refusal of a body that came too slowly.
var errSlow = echo.NewHTTPError(http.StatusRequestTimeout, "the body came too slowly")

// read reads the body of the request, once, as far as the operation permits. It is kept until letGo.
func (s *Services) read(op *validate.Op, r *request) error {
	if !r.read && r.unread == nil {
		r.unread = s.readAll(op, r)
	}
	return r.unread
}

func (s *Services) readAll(op *validate.Op, r *request) (err error) {
	sent := r.Request()
	if sent.ContentLength > op.MaxBody {
		return tooLarge(op)
	}

	if !op.AnyContentType {
		if fault := validate.ContentType(sent.Header.Get(echo.HeaderContentType)); fault != "" {
			return echo.NewHTTPError(http.StatusUnsupportedMediaType, fault)
		}
		if fault := validate.ContentEncoding(sent.Header.Values(echo.HeaderContentEncoding)); fault != "" {
			r.Response().Header().Set(echo.HeaderAcceptEncoding, "identity")
			return echo.NewHTTPError(http.StatusUnsupportedMediaType, fault)
		}
	}

	began := compute.SystemClock{}.Now()
	r.raw, r.leave, err = s.Bodies.Read(contextOf(r), r.caller.ID, sent.Body, sent.ContentLength, op.MaxBody)
	r.read = err == nil
	if err == nil {
		return s.goodSince(r, began)
	}

	_, known := errors.AsType[*compute.Error](err)
	switch {
	case known || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, limit.ErrTooLarge):
		return tooLarge(op)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}

	return &compute.Error{Code: compute.Rejected, Detail: "the body ended early", Cause: err}
}

// longBody is how long a body may take to come before its key is looked at again: it may have been revoked meanwhile (rule auth.revoked.body).
const longBody = time.Second

// goodSince is stillGood for who began to send a body then. It may have taken hours.
func (s *Services) goodSince(r *request, began time.Time) error {
	if r.caller.ID == "" || (compute.SystemClock{}).Now().Sub(began) < longBody {
		return nil
	}
	err := s.stillGoodIn(contextOf(r), r)
	if err != nil {
		s.refusedKey(r, err)
	}
	return err
}

func tooLarge(op *validate.Op) error {
	return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over the limit of %d bytes", op.MaxBody))
}

// letGo gives back the memory of the body.
func (r *request) letGo() {
	r.body, r.raw = nil, nil
	if r.leave != nil {
		r.leave()
	}
}
