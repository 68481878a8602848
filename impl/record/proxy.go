package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
	"github.com/berthdev/berth/impl/relay"
)

// Upstream is where the interfaces of a service are.
type Upstream struct {
	REST    *url.URL // and all that no document knows
	Queue   *url.URL // and of workers; nil: that of REST
	GraphQL *url.URL // nil: that of REST
}

// of gives the base of the document's operations.
func (u Upstream) of(document string) *url.URL {
	switch {
	case (document == "queue" || document == "worker") && u.Queue != nil:
		return u.Queue
	case document == journal.OperationGraphQL && u.GraphQL != nil:
		return u.GraphQL
	}
	return u.REST
}

// Settings are what a Recorder is set to.
type Settings struct {
	Upstream Upstream
	Most     int               // exchanges that are kept
	Body     int               // bytes of a body that are kept
	Clock    compute.Clock     // nil: the machine's
	Say      func(text string) // what the user should know; nil: nobody reads it
	Client   http.RoundTripper // nil: one that checks certificates against those of the system
}

// The defaults of Settings.
const (
	DefaultMost = 10_000
	DefaultBody = 256 << 10
)

// atOnce bounds the exchanges that go on at a time, whose bodies are in memory.
const atOnce = 256

// mostKeys bounds the keys that are told apart.
const mostKeys = 1000

// notKept are the paths that are none of the published interfaces: they are passed on.
var notKept = []string{"/_berth", "/docs", "/healthz", "/readyz", "/openapi/", "/v2/openapi.json", "/favicon.ico"}

// Recorder is a proxy that keeps what goes through it.
type Recorder struct {
	Settings
	known *interfaces
	to    *Writer
	proxy *httputil.ReverseProxy
	going chan struct{} // has a place for each exchange at a time
	zero  time.Time     // the time of day when began was
	began time.Time     // by the clock that measures, by which requests are told apart

	mu     sync.Mutex
	number int64 // of the last request
	kept   int   // exchanges that are written, or will be
	keys   map[[sha256.Size]byte]int
	full   bool // said
}

// NewRecorder makes a proxy that writes to the recording.
func NewRecorder(s Settings, to *Writer) (*Recorder, error) {
	known, err := loadInterfaces()
	if err != nil {
		return nil, err
	}
	s.Most, s.Body = cmp.Or(s.Most, DefaultMost), cmp.Or(s.Body, DefaultBody)
	if s.Clock == nil {
		s.Clock = compute.SystemClock{}
	}
	if s.Say == nil {
		s.Say = func(string) {}
	}
	if s.Client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DisableCompression = true // bodies come as they are to be kept
		transport.MaxIdleConnsPerHost = atOnce
		s.Client = transport
	}

	r := &Recorder{Settings: s, known: known, to: to, going: make(chan struct{}, atOnce), keys: map[[sha256.Size]byte]int{}}
	r.zero, r.began = s.Clock.Wall(), s.Clock.Now()
	r.proxy = &httputil.ReverseProxy{
		Rewrite: r.rewrite, Transport: s.Client, ErrorHandler: r.away,
		FlushInterval: -1, // streams go on as they come
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return r, nil
}

// rewrite addresses a request to the upstream.
func (r *Recorder) rewrite(p *httputil.ProxyRequest) {
	_, document := r.known.named(p.In.Method, p.In.URL.Path)
	p.SetURL(r.Upstream.of(document))
	p.Out.URL.RawQuery = joined(r.Upstream.of(document).RawQuery, p.In.URL.RawQuery) // to the byte
	p.Out.Header.Del("Accept-Encoding")
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}

// away answers for an upstream that does not.
func (r *Recorder) away(w http.ResponseWriter, req *http.Request, err error) {
	if x, ok := req.Context().Value(recordingKey{}).(*recording); ok {
		x.failed = true
	}
	if req.Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody waits for it
	}
	_, document := r.known.named(req.Method, req.URL.Path)
	refuse(w, document, http.StatusBadGateway, "the upstream "+req.URL.Host+" does not answer: "+reason(err), nil)
}

// reason gives an error of the network without the address, which may carry a key.
func reason(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return err.Error()
}

// ServeHTTP passes a request on, and keeps it with its answer.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, document := r.known.named(req.Method, req.URL.Path)
	req.Body = relay.Body(req.Context(), req.Body, req.ContentLength)
	if err := r.to.failed(); err != nil {
		refuse(w, document, http.StatusServiceUnavailable, "the recording cannot be written: "+err.Error(), nil)
		return
	}
	if slices.ContainsFunc(notKept, func(p string) bool { return strings.HasPrefix(req.URL.Path, p) }) {
		r.proxy.ServeHTTP(relay.Upgrades(w, req), req)
		return
	}

	select {
	case r.going <- struct{}{}:
		defer func() { <-r.going }()
	default:
		refuse(w, document, http.StatusServiceUnavailable, strconv.Itoa(atOnce)+" requests are being recorded, which is all that go on at a time", nil)
		return
	}

	x := r.begin(w, req)
	if x == nil {
		r.proxy.ServeHTTP(relay.Upgrades(w, req), req)
		return
	}
	out := req.WithContext(context.WithValue(req.Context(), recordingKey{}, x))
	out.Body = requestBody{req.Body, x}
	defer func() { x.end(!x.done) }() // also when the connection is cut
	r.proxy.ServeHTTP(relay.Upgrades(x, req), out)
	x.done = true
}

// Wait waits until the exchanges that go on are written, or the time is over. No more are recorded then.
func (r *Recorder) Wait(most time.Duration) {
	over, stop := compute.SystemClock{}.After(most)
	defer stop()
	for range atOnce {
		select {
		case r.going <- struct{}{}:
		case <-over:
			return
		}
	}
}

type recordingKey struct{}

// recording is an exchange on its way into the recording. It sees what goes by.
type recording struct {
	http.ResponseWriter
	r     *Recorder
	began time.Time // by the clock that measures

	mu        sync.Mutex // of a body that is still sent while the answer comes
	x         Exchange
	sent      sent
	length    int64 // that the request announced; -1: not known
	whole     bool  // the request's body was read to its end
	head      time.Duration
	last      time.Duration // until the last piece of the answer came, which its client has not seen yet
	announced int64         // length of the answer; -1: not known
	failed    bool          // the upstream gave none
	done      bool          // the answer came to its end
	ended     bool
}

// begin makes a recording; nil: there is no room for more.
func (r *Recorder) begin(w http.ResponseWriter, req *http.Request) *recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept >= r.Most {
		if !r.full {
			r.full = true
			r.Say("the recording has " + strconv.Itoa(r.Most) + " exchanges, which is all that it may have: what follows is passed on and not kept")
		}
		return nil
	}
	r.number++
	r.kept++

	keys := bodies.Credentials(req)
	now := r.Clock.Now()
	x := &recording{ResponseWriter: w, r: r, began: now, announced: -1, length: req.ContentLength, x: Exchange{Number: r.number, At: r.zero.Add(now.Sub(r.began))}}
	if len(keys) > 0 {
		x.x.Key = r.keyed(keys[0])
	}
	x.sent = sent{method: req.Method, url: req.URL, keys: keys, request: journal.Sent{Headers: req.Header.Clone()}}
	return x
}

// keyed gives the number of a key; r.mu is held.
func (r *Recorder) keyed(key string) int {
	of := sha256.Sum256([]byte(key))
	if r.keys[of] == 0 && len(r.keys) < mostKeys {
		r.keys[of] = len(r.keys) + 1
	}
	return cmp.Or(r.keys[of], mostKeys)
}

// see adds to what is kept of a body.
func (x *recording) see(s *journal.Sent, p []byte) {
	s.Length += int64(len(p))
	if room := seen(x.sent.url.Path, x.r.Body) - len(s.Body); room > 0 {
		s.Body = append(s.Body, p[:min(room, len(p))]...)
	}
}

// requestBody is the body of a request that is recorded.
type requestBody struct {
	io.ReadCloser
	x *recording
}

// Read notes what is read.
func (b requestBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	if !b.x.ended {
		b.x.see(&b.x.sent.request, p[:n])
		b.x.whole = b.x.whole || errors.Is(err, io.EOF)
	}
	return n, err
}

// WriteHeader notes the answer's status and headers.
func (x *recording) WriteHeader(status int) {
	x.mu.Lock()
	if x.sent.status == 0 && status >= http.StatusOK {
		x.sent.status, x.head = status, x.r.Clock.Now().Sub(x.began)
		x.last = x.head
		x.sent.response.Headers = x.Header().Clone()
		if n, err := strconv.ParseInt(x.Header().Get("Content-Length"), 10, 64); err == nil {
			x.announced = n
		}
	}
	x.mu.Unlock()
	x.ResponseWriter.WriteHeader(status)
}

// Write notes what is written. The exchange is on disk before a client can have read the last of an answer whose length it knows.
func (x *recording) Write(p []byte) (int, error) {
	x.mu.Lock()
	if !x.ended {
		x.see(&x.sent.response, p)
		x.last = x.r.Clock.Now().Sub(x.began)
	}
	whole := x.announced >= 0 && x.sent.response.Length >= x.announced
	x.mu.Unlock()
	if whole {
		x.end(false)
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (x *recording) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// end writes the exchange, once. An answer that was cut off has more to come.
func (x *recording) end(cut bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.ended = true
	if x.failed || x.sent.status == 0 {
		x.r.mu.Lock()
		x.r.kept-- // there is nothing to keep
		x.r.mu.Unlock()
		return
	}

	if read := x.sent.request.Length; !x.whole && (x.length < 0 || read < x.length) { // who answers before the end of a body leaves it
		x.sent.request.Length = max(read+1, x.length)
	}
	line := x.r.known.masked(x.sent, x.r.Body)
	line.Number, line.At, line.Key = x.x.Number, x.x.At, x.x.Key
	line.HeadMs, line.TookMs = milliseconds(x.head), milliseconds(x.last)
	line.Response.Truncated = line.Response.Truncated || cut
	if line.Response.Truncated && !cut || line.Request.Truncated {
		x.r.Say("the bodies of " + line.Method + " " + line.Path + " are kept to " + strconv.Itoa(x.r.Body) + " bytes: they are longer")
	}
	if err := x.r.to.write(line); err != nil {
		x.r.Say("the recording cannot be written: " + err.Error())
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
