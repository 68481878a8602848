package proxy

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// DefaultDomain is the domain where none is set. Its names lead to the machine itself, where a client knows them.
const DefaultDomain = "localhost"

// The first parts of host names: of a port of a pod, and of an endpoint.
var (
	label         = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9]{14})-([1-9][0-9]{0,4})$`) })
	endpointLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{14}$`) })
)

// domain is a host name of letters, digits and hyphens.
var domain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
})

// CheckDomain refuses what pods cannot be below.
func CheckDomain(name string) error {
	if !domain().MatchString(name) || len(name) > 200 {
		return fmt.Errorf("%q is no domain: it must be a name without scheme, port and dot at its ends, such as pods.example.com", name)
	}
	return nil
}

// name is the domain below which pods are, with a dot before it.
type name string

func newName(domain string) name { return name("." + domain) }

// first gives what a Host header, with or without a port of the server, has before the domain; ok is false if it is not below it.
func (n name) first(host string) (first string, ok bool) {
	return strings.CutSuffix(bare(host), string(n))
}

// bare gives the name of a Host header, without a port of the server.
func bare(host string) string {
	if strings.IndexByte(host, ':') >= 0 { // else there is none, and net would make an error of that for each request
		if before, _, err := net.SplitHostPort(host); err == nil {
			host = before
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// of reads which port of which pod is asked for by a Host header; ok is false if none is.
func (n name) of(host string) (id compute.PodID, port int, ok bool) {
	first, found := n.first(host)
	if !found {
		return "", 0, false
	}
	parts := label().FindStringSubmatch(first)
	if parts == nil {
		return "", 0, false
	}
	port, err := strconv.Atoi(parts[2])
	return compute.PodID(parts[1]), port, err == nil
}

// endpoint reads which endpoint is asked for by a Host header; ok is false if none is.
func (n name) endpoint(host string) (id compute.EndpointID, ok bool) {
	first, found := n.first(host)
	return compute.EndpointID(first), found && endpointLabel().MatchString(first)
}

// isOwn reports whether a Host header is the name of the server itself.
func (p *Proxy) isOwn(host string) bool { return p.Own != "" && bare(host) == bare(p.Own) }
