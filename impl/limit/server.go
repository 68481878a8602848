package limit

import (
	"io"
	"net/http"
	"time"
)

// Server makes a server of the handler whose connections end when they make no progress. It is to serve what c.Listen gives.
func (c *Connections) Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: c.paced(handler), ConnState: c.State, ConnContext: known,
		ReadHeaderTimeout: min(headerSpan, c.span), ReadTimeout: c.span, IdleTimeout: idleSpan, // of writing, see conn.Write
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
		if r.ContentLength < 0 || r.ContentLength > piece {
			body := r.Body
			r = r.WithContext(r.Context()) // net/http looks at the body that it made: one that waits to be asked for is not read to its end
			r.Body = &pacedBody{ReadCloser: body, control: http.NewResponseController(w), span: c.span}
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody is a body that is longer than a piece, or of unknown length. net/http takes the deadline away at its end.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	span    time.Duration
	left    int // bytes of the present piece that have not come
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.left <= 0 { // also at the start: what was waited for before is not the client's fault
		if err := b.control.SetReadDeadline(now().Add(b.span)); err != nil {
			return 0, err
		}
		b.left = piece
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

// Refused gives the rest of the body of a request that was refused before it was read little time to come: net/http reads a
// part of it, so that the client sees the answer.
func Refused(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(now().Add(refusedSpan)) // it has gone, or is no connection
	}
}
