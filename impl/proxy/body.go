package proxy

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync/atomic"

	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/relay"
)

// incoming is the body of a request, on its way to a pod or a worker. It knows whether its client failed to send it.
type incoming struct {
	io.Reader
	broken   atomic.Pointer[error] // why no more of it can be read; nil: it can, or was read to its end
	patience *patience             // with who gets it; nil: that is not bounded here
	ended    func()                // is called at its end, before it is told of; nil: nothing is
	whole    atomic.Bool           // it was read to its end
}

// Read notes why there is no more.
func (b *incoming) Read(p []byte) (int, error) {
	b.patience.pause()
	n, err := b.Reader.Read(p)
	b.patience.anew()
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		b.broken.CompareAndSwap(nil, &err)
	default:
		if b.ended != nil {
			b.ended()
		}
		b.whole.Store(true)
	}
	return n, err
}

// early is for the answer to a request of HTTP/1.1 that may begin before all of the body has come. net/http would read the rest of it before it sends
// the answer, unless the connection ends with that; the rest is the program's. To leave it to the program by EnableFullDuplex would not do: what came of
// a body that cannot be read to its end would be taken for the next request.
type early struct {
	http.ResponseWriter
	body *incoming
}

// WriteHeader writes the status of the answer, or of one before it.
func (e early) WriteHeader(status int) {
	if status >= http.StatusOK && !e.body.whole.Load() {
		e.Header().Set("Connection", "close")
	}
	e.ResponseWriter.WriteHeader(status)
}

// Unwrap gives what is below, for net/http.
func (e early) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// trailers has a request take along the trailers that its client announced, which come with the end of the body. They are put where httputil, which
// copied the names before, has who sends the request look for them.
func trailers(pr *httputil.ProxyRequest) {
	body, has := pr.In.Body.(*incoming)
	out := pr.Out.Trailer
	maps.DeleteFunc(out, func(name string, _ []string) bool { return !has || saysWhoAsks(name) })
	if len(out) == 0 {
		pr.Out.Trailer = nil
		return
	}
	body.ended = func() {
		for name := range out { // not what came without having been announced, which nothing has looked at
			out[name] = pr.In.Trailer[name]
		}
	}
}

// saysWhoAsks reports whether a header is one that a proxy sets or takes away. As a trailer it would come to a program that puts both together as
// its client wrote it, and with an underscore to one to which that is a hyphen, as by the rules of CGI.
func saysWhoAsks(name string) bool {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	switch name {
	case "Host", "Authorization", "Proxy-Authorization", "Cookie", "Forwarded", "Via", "Connection", "Upgrade", "Te", "Keep-Alive", workerHeader:
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// Close leaves it open: another worker may get it, and it is the server's in the end.
func (b *incoming) Close() error { return nil }

// failure is why it cannot be read; nil: it can, or there is none.
func (b *incoming) failure() error {
	if b == nil {
		return nil
	}
	if err := b.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// stalled reports whether its client sent it too slowly. Over HTTP/1.1 the context of the request has ended then: nothing is read any more.
func (b *incoming) stalled() bool { return errors.Is(b.failure(), os.ErrDeadlineExceeded) }

// refuse answers a request whose body its client did not send.
func (b *incoming) refuse(w http.ResponseWriter) {
	no := refusal{status: http.StatusBadRequest, detail: "the body cannot be read to its end: it is malformed, was broken off, or is not as long as it was said to be"}
	if b.stalled() {
		no = refusal{status: http.StatusRequestTimeout, detail: "the body came too slowly"}
	}
	say(w, no) // there is no rest of it to be waited for
}

// accept gives the request with its body as it is sent on, of so many bytes at most, until ctx ends. When it is sent on is not for the client to
// say: over is to be called once the request is answered.
func (p *Proxy) accept(ctx context.Context, w http.ResponseWriter, r *http.Request, most int64) (with *http.Request, body *incoming, over func()) {
	from, over := limit.Paced(w, r, p.Stall)
	with = r.WithContext(ctx)
	if from == nil || from == http.NoBody {
		return with, nil, over
	}
	body = &incoming{Reader: http.MaxBytesReader(w, relay.Body(ctx, from, r.ContentLength), most)}
	with.Body = body
	return with, body, over
}
