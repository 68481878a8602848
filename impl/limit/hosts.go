package limit

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// Hosts are the names under which a server shows what asks for no key. A page of somebody else can have a browser send requests
// to any address by a name of theirs that leads there, and read the answers; the name is what gives it away.
type Hosts struct {
	names map[string]bool // with a dot before it: and all that end in it
	any   bool
}

// NewHosts takes names that were configured: host names, .example.com for all below a domain, * for any. The error says which
// one is none.
func NewHosts(names []string) (*Hosts, error) {
	h := &Hosts{names: map[string]bool{}}
	for _, list := range names {
		for name := range strings.SplitSeq(list, ",") {
			if err := h.add(strings.TrimSpace(name)); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

func (h *Hosts) add(name string) error {
	switch {
	case name == "*":
		h.any = true
	case name == "" || strings.ContainsAny(name, "*/@? ") || strings.Contains(name, ":") && !isAddress(name):
		return fmt.Errorf("%q is no host: it must be a name without scheme and port, .example.com for all names below example.com, or *", name)
	default:
		h.names[canonical(name)] = true
	}
	return nil
}

// Check refuses the Host header of a request, with or without a port, that is no name of the server: Forbidden. It is one if it was
// configured, or if nobody else can have it lead here: an address, a name without a dot, which no domain on the Internet is,
// and what ends in .localhost or .internal. A request without the header is from no browser.
func (h *Hosts) Check(header string) error {
	if h.allowed(header) {
		return nil
	}
	return compute.Errorf(compute.Forbidden, "this is not shown without a key under the host name %.100q, which may be somebody else's; if it is the server's, start it with --allowed-host or BERTH_ALLOWED_HOST", header)
}

func (h *Hosts) allowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = canonical(host)
	if h.any || host == "" || isAddress(host) || !strings.Contains(host, ".") {
		return true
	}
	if strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal") || h.names[host] {
		return true
	}

	for i := range len(host) {
		if host[i] == '.' && h.names[host[i:]] {
			return true
		}
	}

	return false
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// canonical gives the name in small letters, without the dot that may end it.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
