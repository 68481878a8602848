package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/queue"
)

// The limits of a request to an endpoint that balances load, which are those of the public service.
const (
	MostOfEndpoint = 30 << 20                      // bytes of a body, of a request and of an answer
	processTime    = 5*time.Minute + time.Minute/2 // from when a worker has a request
)

// workerHeader names the worker that answered, and asks for one.
const workerHeader = "X-Runpod-Worker-Id"

// Requests gives requests to workers.
type Requests interface {
	// Enter waits for a worker; see queue.Queue.
	Enter(ctx context.Context, user compute.UserID, e compute.EndpointID, wish queue.Wish) (*queue.Turn, error)
	// Serving gives where a worker of an endpoint listens.
	Serving(e compute.EndpointID, w compute.WorkerID) compute.Serving
	// SetCondition notes how a worker is.
	SetCondition(e compute.EndpointID, w compute.WorkerID, c queue.Condition, detail string)
}

// Keys finds who asks.
type Keys interface {
	// Authenticate gives the key of an Authorization header, with the word Bearer or, bareToo, without it.
	Authenticate(ctx context.Context, header string, bareToo bool) (key compute.Key, bearer bool, err error)
}

// visit is a request to an endpoint that balances load.
type visit struct {
	endpoint compute.EndpointID
	turn     *queue.Turn
	wish     queue.Wish
	prefix   string    // of its path, which the worker does not see
	body     *incoming // nil: there is none
	tried    map[compute.WorkerID]bool
	failed   bool // the answer is none of the worker's
	cancel   context.CancelCauseFunc
}

// visitKey is the key, in the context of a request, of its visit.
type visitKey struct{}

// keyLook is how often it is looked whether the key of a request that a worker has is still good.
const keyLook = 15 * time.Second

// watch ends a request that a worker has for too long, or whose key is not good any more, with that as the cause.
func (p *Proxy) watch(ctx context.Context, until time.Time, good func(context.Context) error, end context.CancelCauseFunc) {
	for {
		look, stop := p.Clock.After(min(keyLook, until.Sub(p.Clock.Now())))
		select {
		case <-look:
		case <-ctx.Done():
			stop()
			return
		}
		if !p.Clock.Now().Before(until) {
			end(errSlow)
			return
		}
		if err := good(ctx); err != nil {
			end(err)
			return
		}
	}
}

// errSlow is the cause of the end of a request that a pod or a worker had for too long.
var errSlow = errors.New("proxy: the pod or the worker had the request for too long")

// wishOf reads which worker is asked for.
func wishOf(h http.Header) queue.Wish {
	words := strings.Fields(h.Get(workerHeader))
	switch {
	case len(words) == 1:
		return queue.Wish{Worker: compute.WorkerID(words[0])}
	case len(words) == 2 && (words[0] == "strict" || words[0] == "strict-resume"):
		return queue.Wish{Worker: compute.WorkerID(words[1]), Strict: true}
	}
	return queue.Wish{}
}

// balance answers a request for an endpoint.
func (p *Proxy) balance(w http.ResponseWriter, r *http.Request, id compute.EndpointID, prefix string) {
	p.recorded(w, r, journal.OperationProxyEndpoint, ofEndpoint(id), func(w http.ResponseWriter, r *http.Request) { p.known(w, r, id, prefix) })
}

// known passes a request on for whom it may be.
func (p *Proxy) known(w http.ResponseWriter, r *http.Request, id compute.EndpointID, prefix string) {
	if refused := p.unfit(r); refused != nil {
		refuse(w, r, *refused)
		return
	}
	header := r.Header.Get("Authorization")
	key, err := p.caller(r.Context(), header, id)
	if err == nil || compute.CodeOf(err) == compute.Forbidden { // it is known whose it is
		journal.Of(r.Context()).By(key)
	}
	if err != nil {
		if p.Refused != nil {
			p.Refused(r, err)
		}
		refuse(w, r, refusalOf(err))
		return
	}

	good := func(ctx context.Context) error {
		_, err := p.caller(ctx, header, id)
		if code := compute.CodeOf(err); code == compute.Unauthenticated || code == compute.Forbidden {
			return err
		}
		return nil // it is, or nobody can say
	}
	p.met(w, r, journal.OperationProxyEndpoint, key.ID, ofEndpoint(id), func(w http.ResponseWriter, r *http.Request) { p.toWorker(w, r, key.UserID, id, prefix, good) })
}

// caller gives the key of a header. Unauthenticated for one that is not good, Forbidden, with the key, for one that may not call the endpoint.
func (p *Proxy) caller(ctx context.Context, header string, id compute.EndpointID) (compute.Key, error) {
	key, _, err := p.Keys.Authenticate(ctx, header, true)
	if err == nil && !key.Allows(compute.ScopeInvoke(id)) {
		return key, key.LacksScope(compute.ScopeInvoke(id))
	}
	return key, err
}

// toWorker passes a request on to a worker of the user's endpoint.
func (p *Proxy) toWorker(w http.ResponseWriter, r *http.Request, user compute.UserID, id compute.EndpointID, prefix string, good func(context.Context) error) {
	if r.ContentLength > MostOfEndpoint {
		refuse(w, r, tooLong(MostOfEndpoint))
		return
	}

	v := &visit{endpoint: id, wish: wishOf(r.Header), prefix: prefix, tried: map[compute.WorkerID]bool{}}
	ctx, cancel := context.WithCancelCause(boundInterim(context.WithValue(r.Context(), visitKey{}, v)))
	defer cancel(nil)
	v.cancel = cancel
	r, body, over := p.accept(ctx, w, r, MostOfEndpoint) // before it waits
	defer over()
	v.body = body

	asked := p.Clock.Now()
	stop := whileThere(r, func() { cancel(context.Canceled) }) // or a worker would be started for nobody
	turn, err := p.Requests.Enter(ctx, user, id, v.wish)
	stop()
	if err != nil {
		if ctx.Err() != nil {
			panic(http.ErrAbortHandler) // nobody waits for an answer, or the server ends
		}
		refuse(w, r, refusalOfTurn(err))
		return
	}
	v.turn = turn
	defer func() { v.turn.Over(v.failed) }()

	begun := p.Clock.Now()
	if begun.Sub(asked) >= time.Second { // its key may have been revoked while it waited
		if err := good(ctx); err != nil {
			refuse(w, r, refusalOf(err))
			return
		}
	}
	go p.watch(ctx, begun.Add(processTime), good, cancel)

	p.balancing.ServeHTTP(leash(ctx, withoutHints(w, r, prefix), r, body), r)
}

// unfit refuses what leads to no pod and no worker at all.
func (p *Proxy) unfit(r *http.Request) *refusal {
	switch {
	case r.Method == http.MethodConnect:
		return &refusal{status: http.StatusMethodNotAllowed, detail: "there is no tunnel here: ask for paths"}
	case r.URL.Opaque != "", strings.Contains(r.URL.RawQuery, " "): // what the program gets would be another line than that of a request
		return &refusal{status: http.StatusBadRequest, detail: "the request must be for a path, and have no space in its query"}
	case slices.Contains(r.Header.Values("Via"), p.via):
		return &refusal{status: http.StatusLoopDetected, detail: "the port is one of this server itself"}
	case slices.ContainsFunc(r.Header.Values("Content-Length"), func(n string) bool { return !isLength(n, r.ContentLength) }):
		return &refusal{status: http.StatusBadRequest, detail: "Content-Length: must be one number, the length of the body"}
	}
	return nil
}

// isLength reports whether the text of the header is the length that was understood. Over HTTP/2 the Go server takes what is none for 0.
func isLength(text string, n int64) bool {
	said, err := strconv.ParseUint(text, 10, 63)
	return err == nil && int64(said) == n
}

// newBalancing makes what passes requests on to the workers that they have a turn at.
func (p *Proxy) newBalancing() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        p.rewriteVisit,
		FlushInterval:  -1, // an answer of known length, too, may come slowly
		ModifyResponse: p.answered,
		ErrorHandler:   failedVisit,
		ErrorLog:       slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug),
		// Each request has a connection of its own. One that was used before may be closed by the worker in the moment in which a request
		// is written to it: it could not be told whether the worker has it, so that no other could get it.
		Transport: toWorkers{p, &http.Transport{
			DialContext:        p.Dial.connect,
			DisableKeepAlives:  true,
			DisableCompression: true, // the client has what the worker sent

			MaxResponseHeaderBytes: mostHeader,
		}},
	}
}

// rewriteVisit makes the request that the worker gets: as it was asked, with who asked, and without the key. The key is the client's, for
// whatever it has the scopes for; the worker is anybody's program, and has a key of its own.
func (p *Proxy) rewriteVisit(pr *httputil.ProxyRequest) {
	v, _ := pr.In.Context().Value(visitKey{}).(*visit)
	p.passOn(pr, v.prefix)
	pr.Out.Header.Del("Authorization")
	pr.Out.Header.Del(workerHeader)
}

// toWorkers sends requests to the workers that they have a turn at.
type toWorkers struct {
	p    *Proxy
	send http.RoundTripper
}

// RoundTrip sends the request. One of which nothing was sent, since the worker could not be reached, goes to another worker; nothing is sent
// twice.
func (t toWorkers) RoundTrip(r *http.Request) (*http.Response, error) {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	out := *r
	if r.Body != nil {
		out.Body = unclosed{r.Body} // the next worker may get it, too
	}

	for {
		if t.p.Simulated {
			return nil, refusal{status: http.StatusBadGateway, detail: "the workers of this server are simulated: nothing listens in them"}
		}
		port := t.p.Requests.Serving(v.endpoint, v.turn.Worker).Port
		address, known := Where(t.p.Ports(v.turn.Worker), port)
		err := error(refusal{status: http.StatusBadGateway, detail: "port " + strconv.Itoa(port) + " of the worker is not reachable from here"})
		if known {
			to := *r.URL
			to.Host = address
			out.URL = &to
			var res *http.Response
			if res, err = t.send.RoundTrip(&out); err == nil {
				return res, nil
			}
		}
		if r.Context().Err() != nil || crowded(err) {
			return nil, err
		}
		if known && !dialing(err) {
			var long *http.MaxBytesError
			switch {
			case errors.As(err, &long), v.body.failure() != nil: // the client's
			case errors.Is(err, errInterim):
				t.p.Requests.SetCondition(v.endpoint, v.turn.Worker, queue.Unreachable, "it "+tooManyInterim)
			default:
				t.p.Requests.SetCondition(v.endpoint, v.turn.Worker, queue.Unreachable, "it ended a connection before it answered")
			}
			return nil, err
		}
		if v.tried[v.turn.Worker] {
			return nil, refusal{
				status: http.StatusBadGateway, retry: true,
				detail: "nothing listens on port " + strconv.Itoa(port) + " of a worker whose health check passes: see the variable " + compute.EnvPort,
			}
		}

		v.tried[v.turn.Worker] = true
		t.p.Requests.SetCondition(v.endpoint, v.turn.Worker, queue.Unreachable, "nothing listens on its port "+strconv.Itoa(port))
		if err := v.turn.Again(r.Context(), v.wish); err != nil {
			return nil, err
		}
	}
}

// unclosed is a body that stays open.
type unclosed struct{ io.Reader }

// Close does nothing.
func (unclosed) Close() error { return nil }

// dialing reports whether the error is one of a connection that was not made.
func dialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// crowded reports whether no connection was made since there are as many as there may be, which says nothing of who was to be reached.
func crowded(err error) bool { return compute.CodeOf(err) == compute.Unavailable }

// answered finishes the answer of a worker.
func (p *Proxy) answered(res *http.Response) error {
	v, _ := res.Request.Context().Value(visitKey{}).(*visit)
	if err := checkStatus(res, "worker"); err != nil {
		return err
	}
	if res.ContentLength > MostOfEndpoint && res.Request.Method != http.MethodHead { // to which there is no body
		return refusal{status: http.StatusBadGateway, detail: "the answer of the worker is over the limit of " + strconv.Itoa(MostOfEndpoint) + " bytes"}
	}
	res.Header.Set(workerHeader, string(v.turn.Worker))
	if v.prefix != "" {
		sandbox(res.Header)
	}
	p.endless(res, v.cancel)
	if res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &bounded{ReadCloser: res.Body, left: MostOfEndpoint}
	}
	return nil
}

// bounded is a body of which no more than so many bytes can be read.
type bounded struct {
	io.ReadCloser
	left int64
}

var errTooMuch = errors.New("proxy: the answer is over the limit")

// Read fails once there is more than may be.
func (b *bounded) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// failedVisit answers a request to an endpoint that did not come through.
func failedVisit(w http.ResponseWriter, r *http.Request, err error) {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	var (
		no    refusal
		rules *compute.Error
		long  *http.MaxBytesError
	)
	w.Header().Set(workerHeader, string(v.turn.Worker))
	v.failed = true

	cause := context.Cause(r.Context())
	revoked, isRevoked := errors.AsType[*compute.Error](cause)
	switch {
	case isRevoked:
		v.failed = false
		refuse(w, r, refusalOf(revoked))
	case errors.Is(cause, errSlow):
		refuse(w, r, refusal{status: statusTimeout, detail: "the worker did not answer within " + processTime.String()})
	case v.body.stalled():
		v.body.refuse(w)
	case r.Context().Err() != nil: // nobody waits for an answer, or the server ends
		v.failed = false
		panic(http.ErrAbortHandler)
	case errors.As(err, &no):
		refuse(w, r, no)
	case errors.As(err, &long):
		refuse(w, r, tooLong(MostOfEndpoint))
	case errors.As(err, &rules), errors.Is(err, queue.ErrNoWorker), errors.Is(err, queue.ErrWorkerGone), errors.Is(err, queue.ErrWorkerTimeout):
		refuse(w, r, refusalOfTurn(err))
	case v.body.failure() != nil:
		v.body.refuse(w)
	case errors.Is(err, errInterim):
		refuse(w, r, refusal{status: http.StatusBadGateway, detail: "the worker " + tooManyInterim})
	default:
		refuse(w, r, refusal{status: http.StatusBadGateway, detail: "the worker ended the connection before it answered, or what it said is not HTTP, or has headers of over 64 KiB"})
	}
}

// refusalOfTurn gives the refusal of a request that got no worker, in the words of the public service.
func refusalOfTurn(err error) refusal {
	switch {
	case errors.Is(err, queue.ErrNoWorker):
		return refusal{status: http.StatusBadRequest, reason: "no workers available", detail: err.Error(), retry: true}
	case errors.Is(err, queue.ErrWorkerTimeout):
		return refusal{status: http.StatusBadRequest, reason: "worker_timeout", detail: "timed out waiting for worker: " + err.Error(), retry: true}
	case errors.Is(err, queue.ErrWorkerGone):
		return refusal{status: http.StatusNotFound, reason: "affinity_worker_gone", detail: err.Error()}
	case errors.Is(err, queue.ErrCrowded):
		return refusal{status: http.StatusTooManyRequests, reason: "too many requests", detail: err.Error(), retry: true}
	}
	return refusalOf(err)
}

// Where gives the address that Config.Dial takes to reach a port; ok is false if nobody knows.
func Where(ports []compute.PublishedPort, port int) (address string, ok bool) {
	for _, published := range ports {
		if published.Private == port && published.Type == compute.HTTPPort && published.Via != "" {
			return published.Via, true
		}
	}
	return Shown(ports, port)
}

// Shown gives where a port is, host and port, for people; ok is false if nobody knows.
func Shown(ports []compute.PublishedPort, port int) (address string, ok bool) {
	for _, published := range ports {
		if published.Private != port || published.Type != compute.HTTPPort {
			continue
		}
		if published.Inner != "" {
			return published.Inner, true
		}
		if published.Public != 0 {
			ip := published.IP
			if ip == "" {
				ip = "127.0.0.1"
			}
			return net.JoinHostPort(ip, strconv.Itoa(published.Public)), true
		}
	}
	return "", false
}

// passOn makes what pods and workers get alike: the request as it was asked but for the prefix of its path, with who asked.
func (p *Proxy) passOn(pr *httputil.ProxyRequest, prefix string) {
	pr.Out.URL.Scheme = "http"
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // what it means is for them to say
	maps.DeleteFunc(pr.Out.Header, func(name string, _ []string) bool { return strings.Contains(name, "_") && saysWhoAsks(name) })
	pr.Out.Header.Add("Via", p.via)
	pr.Out.Header.Del("Http2-Settings")
	// Many requests in one would go by what bounds each, and HTTP/1.0 has no other protocols: it is as if nobody had asked for one.
	if strings.EqualFold(pr.Out.Header.Get("Upgrade"), "h2c") || !pr.In.ProtoAtLeast(1, 1) {
		pr.Out.Header.Del("Upgrade")
		pr.Out.Header.Del("Connection")
	}
	trailers(pr)
	pr.SetXForwarded()
	pr.Out.Header.Del("X-Forwarded-Prefix")
	if prefix != "" {
		pr.Out.URL.Path, pr.Out.URL.RawPath = below(pr.In.URL, prefix)
		pr.Out.Header.Set("X-Forwarded-Prefix", prefix)
		pr.Out.Header.Del("Cookie") // it is that of the interfaces, on whose origin this is
	}

	base, ok := p.Proxies.Base(pr.In)
	if !ok {
		return
	}
	if before := pr.In.Header["X-Forwarded-For"]; len(before) > 0 {
		pr.Out.Header["X-Forwarded-For"] = append(before[:len(before):len(before)], pr.Out.Header["X-Forwarded-For"]...)
	}
	if asked, err := url.Parse(base); err == nil {
		pr.Out.Host = asked.Host
		pr.Out.Header.Set("X-Forwarded-Proto", asked.Scheme)
		pr.Out.Header.Set("X-Forwarded-Host", asked.Host)
	}
}
