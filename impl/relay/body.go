// Package relay holds what every reverse proxy here needs of the bodies and the connections that it passes on.
package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Body gives the body of a request of HTTP, of so many bytes or -1, to be sent on until the context is done, which that of the request is when
// it was answered.
//
// Whoever it is sent to may answer before all of it was sent. A server of net/http then reads the rest itself, or closes the body, before it
// passes the answer on; the transport would find its body cut, close its connection, and with that cut off the answer. So what was taken away
// from the reader is waited for, until there is nothing left to cut off.
func Body(ctx context.Context, body io.ReadCloser, length int64) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return &sent{ReadCloser: body, ctx: ctx, left: length}
}

type sent struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // a Read has none
	left int64
}

// Read gives the next bytes.
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.left >= 0 {
		s.left = max(0, s.left-int64(n))
	}
	if errors.Is(err, http.ErrBodyReadAfterClose) || errors.Is(err, io.EOF) && s.left > 0 {
		<-s.ctx.Done()
	}
	return n, err
}
