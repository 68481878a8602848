package replica

import (
	"net"
	"net/http"
	"time"
)

// transport sends requests to an owner.
type transport struct {
	kept *http.Transport // keeps its connections, for the requests after this one
	once *http.Transport // has one for each request
}

func newTransport() *transport {
	t := &transport{kept: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: time.Minute, DisableCompression: true, ExpectContinueTimeout: Lease,
	}}
	t.once = t.kept.Clone()
	t.once.DisableKeepAlives = true
	return t
}

// RoundTrip sends a request. When a connection breaks that was used before, net/http itself sends a request again that looks as if it could be repeated.
// So one that looks like that, and must not be, has a connection of its own.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	one, sentOn := r.Context().Value(tryKey{}).(*try) // else it is between replicas
	if sentOn && !one.reads && replayable(r) {
		return t.once.RoundTrip(r)
	}
	return t.kept.RoundTrip(r)
}

// replayable reports whether net/http takes the request for one that can be repeated, as long as its body can.
func replayable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return r.Header["Idempotency-Key"] != nil || r.Header["X-Idempotency-Key"] != nil
}
