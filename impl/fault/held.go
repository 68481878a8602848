package fault

import (
	"context"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// mostHeld is how much of an answer is kept back, in bytes. What is longer goes on as it comes.
const mostHeld = 1 << 20

// Held is an answer that is kept back until the operation is done, and a fault becomes of it or not. A stream of events is not kept back:
// it has no end to wait for.
type Held struct {
	to     http.ResponseWriter
	header http.Header
	status int    // 0: there is none yet
	body   []byte // as much as is kept
	length int64  // of all that was written
	open   bool   // the answer has begun, and goes on as it comes

	ctx     context.Context
	script  *Script
	calls   []Call // the first that meets a fault decides
	already bool   // the call met a fault before the operation
	clock   compute.Clock
	log     *slog.Logger

	decided bool
	met     *met // nil: the answer is as it was
	of      Call // that met it
	began   time.Time
	sent    int64 // bytes of the body
}

// Hold gives a writer that keeps the answer back that the calls of a request have together; nil if no fault may become of it. Already says that one of them
// met a fault before its operation. Latency and slow bytes take their time on the clock.
func (s *Script) Hold(ctx context.Context, w http.ResponseWriter, already bool, clock compute.Clock, log *slog.Logger, calls ...Call) *Held {
	awaited := slices.DeleteFunc(calls, func(c Call) bool { return !s.awaits(c.Operation, After) })
	if len(awaited) == 0 {
		return nil
	}
	var body *journal.Entry // they have one body
	for i := range awaited {
		awaited[i].entry = body
		s.look(&awaited[i], After)
		body = awaited[i].entry
	}
	return &Held{to: w, header: w.Header().Clone(), ctx: ctx, script: s, calls: awaited, already: already, clock: clock, log: log}
}

// Header is that of the answer that is kept back.
func (h *Held) Header() http.Header { return h.header }

// Begun reports whether any of the answer was sent.
func (h *Held) Begun() bool { return h.open }

// Unwrap is for http.ResponseController.
func (h *Held) Unwrap() http.ResponseWriter { return h.to }

// FlushError sends what was written, of an answer that is not kept back. The error of one that is says that nobody waits for it.
func (h *Held) FlushError() error {
	if !h.open {
		return h.ctx.Err()
	}
	return http.NewResponseController(h.to).Flush()
}

// WriteHeader keeps the status.
func (h *Held) WriteHeader(status int) {
	if h.status != 0 || status < http.StatusOK {
		return
	}
	h.status = status
	if kind, _, err := mime.ParseMediaType(h.header.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		h.decided = true
		h.begin()
	}
}

// Write keeps what there is room for.
func (h *Held) Write(p []byte) (int, error) {
	if h.status == 0 {
		h.WriteHeader(http.StatusOK)
	}
	if h.open {
		return len(p), h.send(p)
	}

	h.length += int64(len(p))
	kept := min(len(p), mostHeld-len(h.body))
	h.body = append(h.body, p[:kept]...)
	if kept == len(p) {
		return len(p), nil
	}

	if err := h.decide(); err != nil {
		return 0, err
	}
	if m := h.met; m != nil && (m.Drop || m.Status > 0 || m.Half != nil) {
		return len(p), nil // none of the rest is sent
	}
	h.begin()
	if err := h.send(h.body); err != nil {
		return 0, err
	}
	h.body = nil
	return len(p), h.send(p[kept:])
}

// decide finds out what becomes of the answer, once, and lets the latency of the fault pass. A refusal meets none.
func (h *Held) decide() error {
	if h.decided {
		return nil
	}
	h.decided = true
	if h.status >= http.StatusBadRequest {
		return nil
	}

	for _, c := range h.calls {
		if m := h.script.meet(c, After, h.already || h.met != nil); m != nil {
			h.met, h.of = m, c
		}
	}
	if h.met == nil {
		return nil
	}
	return h.met.begin(h.ctx, h.of, h.clock, h.log)
}

// End sends the answer, or what the fault makes of it, after the operation was done. The error is an *Answer if nothing was sent and this
// is to be answered, or that of a client that has gone; a fault that cuts the connection panics as net/http wants it.
func (h *Held) End() error {
	if h.open {
		return nil
	}
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if err := h.decide(); err != nil {
		return err
	}
	if h.met == nil {
		h.begin()
		return h.send(h.body)
	}

	if err := h.met.end(h.of.Operation); err != nil {
		return err
	}

	body, cut := h.body, h.met.Half != nil && h.length > 0
	if cut {
		body = body[:min(h.length**h.met.Half/100, int64(len(body)))]
	}
	if h.length > 0 {
		h.header.Set("Content-Length", strconv.FormatInt(h.length, 10))
	}

	h.begin()
	if err := h.send(body); err != nil {
		return err
	}
	if cut {
		_ = http.NewResponseController(h.to).Flush() // the client has gone
		panic(http.ErrAbortHandler)
	}
	return nil
}

// begin sends the status and the headers.
func (h *Held) begin() {
	h.open, h.began = true, h.clock.Now()
	header := h.to.Header()
	clear(header)
	for name, values := range h.header {
		header[name] = values
	}
	h.to.WriteHeader(h.status)
}

// parts is into how many parts the bytes of a second are divided.
const parts = 10

// send sends a part of the body, as the fault has it.
func (h *Held) send(p []byte) error {
	if len(p) == 0 {
		return nil // a status may permit no body
	}
	if h.met != nil && h.met.Garbage {
		p = h.met.garbage(len(p), h.sent == 0)
	}
	if h.met == nil || h.met.BytesPerSecond == 0 {
		n, err := h.to.Write(p)
		h.sent += int64(n)
		return err
	}

	rate := h.met.BytesPerSecond
	for len(p) > 0 {
		n := min(int64(len(p)), max(1, rate/parts))
		due := time.Duration(float64(h.sent+n) / float64(rate) * float64(time.Second))
		if err := compute.Pause(h.ctx, h.clock, due-h.clock.Now().Sub(h.began)); err != nil {
			return err
		}
		if _, err := h.to.Write(p[:n]); err != nil {
			return err
		}
		if err := http.NewResponseController(h.to).Flush(); err != nil {
			return err
		}
		h.sent, p = h.sent+n, p[n:]
	}
	return nil
}

// garbage gives so many bytes. Those that begin a body are no JSON, whatever follows.
func (m *met) garbage(n int, begins bool) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(m.draws.Uint32())
	}
	if begins {
		p[0] = 0xff
	}
	return p
}
