package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/limit"
)

// request is echo's context of a request with what the front found out, which the handlers ask for. It is new for each request:
// what runs on after the answer, see letGo, never meets the next one.
type request struct {
	echo.Context
	bodies   *limit.Bodies   // keeps the text of its answer
	caller   caller          // zero where anybody may ask
	front    *front          // what let it pass; nil: nothing did yet
	want     compute.Scope   // that its operation takes
	exceeded *compute.Rate   // the worst limit that is exceeded, if one is
	body     any             // what the generated validator decoded, as a pointer
	raw      []byte          // the body as it was sent
	leave    func()          // gives back the memory of the body; nil: there is none
	read     bool            // the body was, to its end
	unread   error           // why the body was not
	noted    []slog.Attr     // ids that the log is to name
	contract string          // the edition that it names; empty: none
	strange  error           // that there is no such edition
	edition  int             // that it is answered in: a place in rest.Editions
	over     func()          // it is under way no more; nil: nobody counts
	kept     bool            // its answer is kept back, and a fault becomes of it or not
	record   *journal.Record // nil: nobody records it
	head     head
}

// isOver has the request be under way no more, as far as the clock is concerned.
func (r *request) isOver() {
	if r.over != nil {
		r.over()
	}
}

// head is where values of headers of an answer are that every answer has: with the request, in place of a list of one each.
type head struct {
	values [3]string
	used   int
}

// set sets a header, whose name is in the usual form.
func (h *head) set(c echo.Context, name, value string) {
	if h.used == len(h.values) {
		c.Response().Header().Set(name, value)
		return
	}
	h.values[h.used] = value
	c.Response().Header()[name] = h.values[h.used : h.used+1 : h.used+1]
	h.used++
}

// dates are the last second that was asked for, as headers have it.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	text   string
}

// text gives a time, which is in UTC.
func (d *dates) text(t time.Time) string {
	last := d.last.Load()
	if second := t.Unix(); last == nil || last.second != second {
		last = &date{second, t.Format(http.TimeFormat)}
		d.last.Store(last)
	}
	return last.text
}

// caller is who asks, and how they sent their key.
type caller struct {
	compute.Key
	bearer bool
}

// handler answers a request.
type handler func(*request) error

// JSON answers with v. A long text is in memory only if there is room for it (rule bounds.texts).
func (r *request) JSON(status int, v any) error {
	text := texts.Get().(*[]byte)
	var err error
	if *text, err = appendJSON((*text)[:0], v, editionOf(r)); err != nil {
		return err
	}
	if len(*text) <= limit.FreeText {
		err := r.JSONBlob(status, *text)
		if cap(*text) <= limit.FreeText {
			texts.Put(text)
		}
		return err
	}

	kept, err := r.bodies.Text(r.caller.ID, *text)
	*text = nil
	texts.Put(text)
	if err != nil {
		return err
	}
	defer kept.Close()
	r.Response().Header()[echo.HeaderContentType] = jsonType
	r.Response().WriteHeader(status)
	return kept.Write(r.Response())
}

// routed calls the handler that the router found, unless it is that of a shorter path (rule errors.unknown-path).
func (s *Services) routed(r *request) error {
	if below(r) {
		return echo.ErrNotFound
	}
	if err := s.strayed(r); err != nil {
		return err
	}
	return r.Handler()(r)
}

func requestOf(c echo.Context) *request { return c.(*request) }

func callerOf(c echo.Context) *caller { return &requestOf(c).caller }

// bodyOf gives the body that the generated validator decoded.
func bodyOf[T any](c echo.Context) T { return *requestOf(c).body.(*T) }

// stillGood refuses the answer to a request that was held, if its key is not good any more (rule auth.revoked.held). The answer has the date of
// now, not that of the request's coming (rule clock.date).
func (s *Services) stillGood(c echo.Context) error {
	if date := c.Response().Header()["Date"]; len(date) == 1 {
		date[0] = s.dates.text(s.Clock.Wall())
	}
	return s.stillGoodIn(contextOf(c), c)
}

// errGone says that the client of a request that was held has gone, though the context of the request has not ended yet.
var errGone = errors.New("httpapi: the client has gone")

// stillThere is stillGood for an answer that is given once, and that nobody would have: it fails also if the client has gone (rule queue.take.gone).
func (s *Services) stillThere(c echo.Context) error {
	if limit.Gone(c.Request()) {
		return errGone
	}
	return s.stillGood(c)
}

// stillGoodIn is stillGood that looks no longer than ctx lasts.
func (s *Services) stillGoodIn(ctx context.Context, c echo.Context) error {
	if s.Keyring.Holds(callerOf(c).Key) {
		return nil
	}
	key, _, err := s.Keyring.Authenticate(ctx, authorization(c.Request()), true)
	if compute.CodeOf(err) == compute.Unauthenticated {
		return err
	}
	if r := requestOf(c); err == nil && r.front != nil {
		return r.front.permits(key, r.want) // another role permits less
	}
	return nil // nobody can say
}
