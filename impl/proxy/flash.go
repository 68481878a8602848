package proxy

import (
	"context"
	"net/http"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// flashLabel is the name below the domain at which headers say which endpoint of an app of flash is asked (rule flash.balanced).
const flashLabel = "flash"

// What the headers name: an app, an environment of it, and an endpoint there.
const (
	flashApp         = "X-Flash-App"
	flashEnvironment = "X-Flash-Environment"
	flashEndpoint    = "X-Flash-Endpoint"
)

// Flash finds the endpoints of apps of flash.
type Flash interface {
	// Endpoint gives the user's endpoint of that name, or with that id, in an environment of an app. NotFound if there is none.
	Endpoint(ctx context.Context, user compute.UserID, app, environment, endpoint string) (compute.EndpointID, error)
}

// ofFlash reports whether headers say which endpoint is asked. Without them the name is one of the interfaces, like any other.
func (p *Proxy) ofFlash(host string, h http.Header) bool {
	first, found := p.name.first(host)
	return found && first == flashLabel && h.Get(flashEndpoint) != "" && !p.isOwn(host)
}

// balanceNamed answers a request whose headers say which endpoint is asked. They mean what the owner of the key has under these names.
func (p *Proxy) balanceNamed(w http.ResponseWriter, r *http.Request) {
	key, _, err := p.Keys.Authenticate(r.Context(), r.Header.Get("Authorization"), true)
	if err != nil {
		if p.Refused != nil {
			p.Refused(r, err)
		}
		p.recorded(w, r, journal.OperationProxyEndpoint, nil, func(w http.ResponseWriter, r *http.Request) { refuse(w, r, refusalOf(err)) })
		return
	}

	// To a key that may not call it, all names are alike.
	id, err := p.Flash.Endpoint(r.Context(), key.UserID, r.Header.Get(flashApp), r.Header.Get(flashEnvironment), r.Header.Get(flashEndpoint))
	known := err == nil || compute.CodeOf(err) == compute.NotFound
	if known && !key.Allows(compute.ScopeInvoke(id)) { // where there is none: who may not call all
		err = key.LacksScope(compute.ScopeInvoke(flashLabel))
		if p.Refused != nil {
			p.Refused(r, err)
		}
	}
	if err != nil {
		p.recorded(w, r, journal.OperationProxyEndpoint, nil, func(w http.ResponseWriter, r *http.Request) {
			journal.Of(r.Context()).By(key)
			refuse(w, r, refusalOf(err))
		})
		return
	}
	p.balance(w, r, id, "")
}
