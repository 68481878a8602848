// Package proxy brings HTTP into pods and to the workers of endpoints that balance load. What is asked of {podId}-{port}.{domain} goes to
// what listens on that port of the pod, and nowhere else. It asks for no key, as the published contract has it: which ports are shown is
// what the pod says. What is asked of {endpointId}.{domain} takes a key, and goes to one of the healthy workers, which the queue chooses.
// The proxying is that of net/http/httputil; here is who is meant, and what it may cost.
package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/limit"
)

// The limits of a request to a pod, which are those of the public service.
const (
	MostBody  = 100 << 20         // bytes of a body
	firstByte = 100 * time.Second // until the answer begins
)

// mostHeader is how many bytes the headers of an answer may have: they are in memory as a whole, for each request.
const mostHeader = 64 << 10

const idleTime = 30 * time.Second // that a connection to a pod is kept

// Pods finds pods.
type Pods interface {
	// HTTPPod gives the pod, whoever owns it. NotFound for an unknown and a terminated one, and for a port that it does not show over HTTP.
	HTTPPod(ctx context.Context, id compute.PodID, port int) (compute.Pod, error)
}

// Config is what a Proxy is made of.
type Config struct {
	Domain    string // below which the pods are
	Pods      Pods
	PodPaths  bool                                           // pods are shown below /proxy/pods/, too
	Keys      Keys                                           // of who asks for endpoints
	Flash     Flash                                          // finds those that headers name
	Requests  Requests                                       // gives requests to workers
	Ports     func(compute.WorkerID) []compute.PublishedPort // where the ports of a worker are
	Dial      Dial
	Clock     compute.Clock
	Stall     time.Duration                          // in which a client must send 64 KB of a body that is waited for; 0: limit.DefaultSpan
	Own       string                                 // name of the server itself, which is none of an endpoint; empty: none
	Live      func(compute.PodID) compute.PodRuntime // what a pod was last seen to do
	Simulated bool                                   // nothing runs in pods
	Proxies   *limit.Proxies                         // that say what the client asked for; nil: there are none
	Ending    context.Context                        // ends when answers without an end are to end
	Watch     Watch                                  // nil: nobody does
	Refused   func(*http.Request, error)             // notes that a key was refused; nil: nobody does
	Log       *slog.Logger
}

// Proxy answers what is asked of pods, and leaves the rest to others.
type Proxy struct {
	Config
	name  name
	via   string // says in a request that it came through this proxy
	busy  busy
	relay *httputil.ReverseProxy // to pods

	firstByte time.Duration // until the answer of a pod begins

	balancing *httputil.ReverseProxy // to workers
}

// New makes a Proxy.
func New(c Config) *Proxy {
	c.Stall = cmp.Or(c.Stall, limit.DefaultSpan)
	p := &Proxy{Config: c, name: newName(c.Domain), via: "1.1 berth-" + rand.Text(), firstByte: firstByte}
	p.relay = p.newRelay()
	p.balancing = p.newBalancing()
	if t, ok := p.relay.Transport.(*http.Transport); ok {
		context.AfterFunc(c.Ending, t.CloseIdleConnections) // or they would outlive the server by idleTime; those in use end with their requests
	}
	return p
}

// newRelay makes what passes requests on to where their contexts say.
func (p *Proxy) newRelay() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:       p.rewrite,
		FlushInterval: -1, // an answer of known length, too, may come slowly
		ErrorHandler:  failed,
		ModifyResponse: func(res *http.Response) error {
			to := targetOf(res.Request)
			to.patience.end()
			if err := checkStatus(res, "pod"); err != nil {
				return err
			}
			if to.prefix != "" {
				sandbox(res.Header)
			}
			p.endless(res, to.cancel)
			return nil
		},
		ErrorLog: slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug), // that a client or a pod went away is no trouble of the server's
		Transport: &http.Transport{
			DialContext:         p.Dial.connect,
			IdleConnTimeout:     idleTime,
			MaxIdleConns:        mostBusy,
			MaxIdleConnsPerHost: mostOfPod,
			DisableCompression:  true, // the client has what the pod sent

			MaxResponseHeaderBytes: mostHeader,
		},
	}
}

// Before gives a handler that answers what is asked of pods and endpoints, by name and by path, and has next answer all else.
func (p *Proxy) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := p.Proxies.Host(r)
		if id, port, ok := p.name.of(host); ok {
			p.serve(w, r, id, port, "")
			return
		}
		if id, ok := p.name.endpoint(host); ok && !p.isOwn(host) {
			p.balance(w, r, id, "")
			return
		}
		if p.ofFlash(host, r.Header) {
			p.balanceNamed(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/proxy/") && p.inPath(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Takes gives what reports whether a request is one that a Proxy with these settings may answer. It does not ask whether there is such a pod or
// endpoint, so it serves who has no Proxy.
func Takes(domain, own string, proxies *limit.Proxies) func(*http.Request) bool {
	p := &Proxy{Config: Config{Own: own, Proxies: proxies}, name: newName(domain)}
	return func(r *http.Request) bool {
		host := p.Proxies.Host(r)
		_, _, ofPod := p.name.of(host)
		_, ofEndpoint := p.name.endpoint(host)
		return ofPod || ofEndpoint && !p.isOwn(host) || p.ofFlash(host, r.Header) || strings.HasPrefix(r.URL.Path, "/proxy/")
	}
}

// serve answers a request for a port of a pod.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, id compute.PodID, port int, prefix string) {
	of := ofPod(id, strconv.Itoa(port))
	p.recorded(w, r, journal.OperationProxyPod, of, func(w http.ResponseWriter, r *http.Request) {
		p.met(w, r, journal.OperationProxyPod, "", of, func(w http.ResponseWriter, r *http.Request) { p.toPod(w, r, id, port, prefix) })
	})
}

// toPod passes a request on to the pod. The pod does not see the prefix of its path.
func (p *Proxy) toPod(w http.ResponseWriter, r *http.Request, id compute.PodID, port int, prefix string) {
	if refused := p.unfit(r); refused != nil {
		refuse(w, r, *refused)
		return
	}
	if r.ContentLength > MostBody {
		refuse(w, r, tooLong(MostBody))
		return
	}

	over, why := p.busy.begin(id)
	if why != "" {
		refuse(w, r, refusal{status: http.StatusServiceUnavailable, detail: why, retry: true})
		return
	}
	defer over()

	address, err := p.target(r.Context(), id, port)
	if err != nil {
		failed(w, r, err)
		return
	}

	to := &target{address: address, prefix: prefix}
	ctx, cancel := context.WithCancelCause(boundInterim(context.WithValue(r.Context(), targetKey{}, to)))
	defer cancel(nil)
	to.cancel = cancel
	r, body, done := p.accept(ctx, w, r, MostBody)
	defer done()

	to.body, to.patience = body, newPatience(p.firstByte, func() { cancel(errSlow) })
	defer to.patience.end()
	if body != nil {
		body.patience = to.patience
	}
	p.relay.ServeHTTP(leash(ctx, withoutHints(w, r, prefix), r, body), r)
}

// endless has an answer without an end be cut as the server ends, and a connection that was taken over some time after the program has ended its
// side. Other answers may come to their end in the time that they have then.
func (p *Proxy) endless(res *http.Response, cancel context.CancelCauseFunc) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // what cannot be read is none of it
	if res.StatusCode != http.StatusSwitchingProtocols && kind != "text/event-stream" {
		return
	}
	ctx := res.Request.Context()
	stop := context.AfterFunc(p.Ending, func() { cancel(context.Canceled) })
	context.AfterFunc(ctx, func() { stop() })
	if side, is := res.Body.(io.ReadWriteCloser); is && res.StatusCode == http.StatusSwitchingProtocols {
		res.Body = newTunnel(ctx, side, cancel)
	}
}

// targetKey is the key, in the context of a request, of its target.
type targetKey struct{}

// target is where a request to a pod goes.
type target struct {
	address  string
	prefix   string    // of its path, which the pod does not see
	body     *incoming // nil: there is none
	patience *patience // until its answer begins
	cancel   context.CancelCauseFunc
}

// targetOf gives where a request goes; nowhere, if that was not found.
func targetOf(r *http.Request) *target {
	if to, is := r.Context().Value(targetKey{}).(*target); is {
		return to
	}
	return &target{}
}

// target gives the address at which the port of the pod is reached.
func (p *Proxy) target(ctx context.Context, id compute.PodID, port int) (string, error) {
	pod, err := p.Pods.HTTPPod(ctx, id, port)
	if err != nil {
		return "", err
	}
	if pod.Status != compute.PodRunning {
		return "", refusal{status: http.StatusBadGateway, detail: "the pod is " + string(pod.Status) + ": nothing listens until it is " + string(compute.PodRunning)}
	}
	if p.Simulated {
		return "", refusal{status: http.StatusBadGateway, detail: "the pods of this server are simulated: nothing listens in them"}
	}

	if address, ok := Where(p.Live(id).Ports, port); ok {
		return address, nil
	}
	return "", refusal{status: http.StatusBadGateway, detail: "the port cannot be reached yet: the pod has just started", retry: true}
}

// rewrite makes the request that the pod gets: as it was asked, with who asked.
func (p *Proxy) rewrite(pr *httputil.ProxyRequest) {
	to := targetOf(pr.In)
	p.passOn(pr, to.prefix)
	pr.Out.URL.Host = to.address
}

// failed answers a request that did not come through.
func failed(w http.ResponseWriter, r *http.Request, err error) {
	var (
		no    refusal
		rules *compute.Error
		long  *http.MaxBytesError
	)
	body := targetOf(r).body

	switch {
	case body.stalled():
		body.refuse(w)
	case errors.Is(context.Cause(r.Context()), errSlow):
		refuse(w, r, refusal{status: statusTimeout, detail: "the pod did not begin to answer in time"})
	case r.Context().Err() != nil: // nobody waits for an answer, or the server ends
		panic(http.ErrAbortHandler)
	case errors.As(err, &no):
		refuse(w, r, no)
	case errors.As(err, &long):
		refuse(w, r, tooLong(MostBody))
	case errors.As(err, &rules):
		refuse(w, r, refusalOf(err))
	case body.failure() != nil:
		body.refuse(w)
	case dialing(err):
		refuse(w, r, refusal{status: http.StatusBadGateway, detail: "nothing listens on the port of the pod yet, or no more", retry: true})
	case errors.Is(err, errInterim):
		refuse(w, r, refusal{status: http.StatusBadGateway, detail: "the pod " + tooManyInterim})
	default:
		refuse(w, r, refusal{status: http.StatusBadGateway, detail: "the pod ended the connection before it answered, or what it said is not HTTP, or has headers of over 64 KiB"})
	}
}
