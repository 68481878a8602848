package limit

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Server makes a server of the handler whose connections end when they make no progress. It is to serve what c.Listen gives.
func (c *Connections) Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: c.paced(handler), ConnState: c.State, ConnContext: known,
		MaxHeaderBytes: mostHead, ReadHeaderTimeout: min(headerSpan, c.span), ReadTimeout: c.span, IdleTimeout: idleSpan, // of writing, see conn.Write
		HTTP2: c.twoConfig(),
	}
}

// paced has each piece of a long body come within the span. A short one has the span of the whole request, and costs nothing
// more.
func (c *Connections) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handled(r)
		if r.Method == "PRI" { // the beginning of HTTP/2 where it is not spoken, which net/http leaves to handlers
			refuse(w, http.StatusHTTPVersionNotSupported, noPreface)
			return
		}
		if r.ProtoMajor == 2 {
			if !c.streams.begin(w, c.most) {
				return
			}
			defer c.streams.end()
			two := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), span: c.span}
			defer two.last()
			w = two
		}
		if isLong(r) {
			body := newPacedBody(w, r, c.span)
			defer body.over()
			r = r.WithContext(r.Context()) // net/http looks at the body that it made: one that waits to be asked for is not read to its end
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// isLong reports whether the body of the request is longer than a piece, or of unknown length.
func isLong(r *http.Request) bool { return r.ContentLength < 0 || r.ContentLength > piece }

// Paced gives the body of a request, of which each piece has the span to come, counted while somebody reads it: it is for handlers that read
// a short body late, too. It is to be called before the handler waits, and over once the request is answered.
func Paced(w http.ResponseWriter, r *http.Request, span time.Duration) (body io.ReadCloser, over func()) {
	if r.ContentLength == 0 || isLong(r) { // there is none, or it is paced already
		return r.Body, func() {}
	}
	paced := newPacedBody(w, r, span)
	return paced, paced.over
}

// pacedBody is a body of which each piece has the span to come. Only the time counts in which somebody waits for it: when the body is read is
// not for the client to say.
type pacedBody struct {
	io.ReadCloser
	span time.Duration
	two  bool          // the request came over HTTP/2
	left int           // bytes of the present piece that have not come
	took time.Duration // that was waited for the present piece so far

	mu      sync.Mutex
	control *http.ResponseController // nil: the request is answered, and the connection is not its own any more
}

func newPacedBody(w http.ResponseWriter, r *http.Request, span time.Duration) *pacedBody {
	b := &pacedBody{ReadCloser: r.Body, span: span, two: r.ProtoMajor == 2, control: http.NewResponseController(w)}
	b.rest()
	return b
}

// Read waits for no longer than the present piece may take.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.left, b.took = piece, 0
	}
	begun := now()
	if err := b.until(begun.Add(b.span - b.took)); err != nil {
		return 0, err
	}

	n, err := b.ReadCloser.Read(p)
	b.left -= n
	b.took += now().Sub(begun)
	switch {
	case err == nil:
		b.rest()
	case !b.two && !errors.Is(err, os.ErrDeadlineExceeded):
		// There is no more to wait for. net/http may have read the end of the body before, and watch since then whether the client goes:
		// the deadline of this read would be taken for that.
		_ = b.until(time.Time{})
	}
	return n, err
}

// rest has the body wait for who reads it. Over HTTP/1.1 a deadline that passes meanwhile harms nothing, and net/http takes it away at the end of
// the body; over HTTP/2 the body would end with it.
func (b *pacedBody) rest() {
	if b.two {
		_ = b.until(time.Time{}) // it fails where the stream has ended, which the next read says
	}
}

// until sets the deadline of what is read next.
func (b *pacedBody) until(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.control == nil {
		return http.ErrBodyReadAfterClose
	}
	return b.control.SetReadDeadline(t)
}

// over leaves the connection alone: who passes a body on may read of it after the handler.
func (b *pacedBody) over() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.control = nil
}

// Refused gives the rest of the body of a request that was refused before it was read little time to come: net/http reads a
// part of it, so that the client sees the answer.
func Refused(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(now().Add(refusedSpan)) // it has gone, or is no connection
	}
}
