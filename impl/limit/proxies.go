package limit

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Proxies are the addresses of proxies that are believed what they say of a request: the scheme and the host that the client asked
// for, in X-Forwarded-Proto and X-Forwarded-Host, and its address in X-Forwarded-For. Of anybody else the headers are not read. Nil: there are none.
type Proxies struct{ trusted []netip.Prefix }

// NewProxies takes addresses and networks, such as 10.0.0.0/8, several with commas between them. The error says which one is none.
func NewProxies(networks []string) (*Proxies, error) {
	p := &Proxies{}
	for _, list := range networks {
		for text := range strings.SplitSeq(list, ",") {
			text = strings.TrimSpace(text)
			network, err := netip.ParsePrefix(text)
			if ip, no := netip.ParseAddr(text); no == nil {
				network, err = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
			}
			if err != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
			}
			p.trusted = append(p.trusted, network)
		}
	}

	return p, nil
}

func (p *Proxies) trusts(remote string) bool {
	if p == nil || len(p.trusted) == 0 {
		return false
	}
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}

	return p.has(from.Addr())
}

// has reports whether the address is one of a trusted proxy.
func (p *Proxies) has(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(p.trusted, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Host gives the host, perhaps with a port, that the client asked for.
func (p *Proxies) Host(r *http.Request) string {
	if host := last(r.Header, "X-Forwarded-Host"); host != "" && p.trusts(r.RemoteAddr) {
		return host
	}
	return r.Host
}

// HostName is Host without a port, and an address without brackets.
func (p *Proxies) HostName(r *http.Request) string {
	host := p.Host(r)
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// Client gives the address of the client without its port: the one that the connection comes from or, where that is a trusted proxy, the last of
// X-Forwarded-For that is none. What stands before it, or is no address, anybody may have written.
func (p *Proxies) Client(r *http.Request) string {
	client := r.RemoteAddr
	if host, _, err := net.SplitHostPort(client); err == nil {
		client = host
	}
	if !p.trusts(r.RemoteAddr) {
		return client
	}

	said := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, text := range slices.Backward(said[max(0, len(said)-mostHops):]) {
		address, err := forwarded(strings.TrimSpace(text))
		if err != nil {
			return client
		}
		client = address.String()
		if !p.has(address) {
			return client
		}
	}
	return client
}

// mostHops is how many addresses of X-Forwarded-For are looked at.
const mostHops = 16

// forwarded reads an address as proxies write it, some with a port.
func forwarded(text string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap(), nil
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return address.Unmap(), err
}

// Base gives the address that the client asked for, without a path. ok is false if no proxy says, or what it says is no host.
func (p *Proxies) Base(r *http.Request) (base string, ok bool) {
	host := last(r.Header, "X-Forwarded-Host")
	scheme := last(r.Header, "X-Forwarded-Proto")
	if host == "" && scheme == "" || !p.trusts(r.RemoteAddr) {
		return "", false
	}

	if host == "" {
		host = r.Host
	}
	if scheme = strings.ToLower(scheme); scheme != "https" {
		scheme = "http"
	}
	u, err := url.Parse(scheme + "://" + host)
	if err != nil || u.Host != host || host == "" {
		return "", false
	}

	return u.String(), true
}

// last gives the last value of a header that may have a list: that of the proxy that is nearest, which is the one that is trusted.
func last(h http.Header, name string) string {
	values := h[name]
	if len(values) == 0 {
		return ""
	}
	text := values[len(values)-1]
	return strings.TrimSpace(text[strings.LastIndexByte(text, ',')+1:])
}
