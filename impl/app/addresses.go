package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/berthdev/berth/console"
	"github.com/berthdev/berth/docs"
	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/proxy"
)

// addresses are where a server listens and how it is reached.
type addresses struct {
	listeners            []net.Listener // who connects waits until they are served; that of the metrics is the last one
	url, queueURL        string         // bases without a slash at the end
	metricsURL, pagesURL string         // empty: they are not served
	consoleURL           string         // likewise
	publicURL, workerURL string         // as they are configured
	hostName             string         // by which what pods and workers run on reaches this machine; empty: as processes of it do
	proxies              *limit.Proxies
	challenges           int                // number of the listener that answers an authority; 0: none does
	certificates         certificate.Source // of the first listener; nil: it speaks plain HTTP, as the others do
	ssh                  *door              // nil: nobody logs in by ssh
}

// listen opens the addresses: one for everything, and if the settings say so a second one for the queue and one for the metrics, which
// is another one: clients see no path that is not documented, and who may read the metrics is decided by who reaches the address.
func listen(c Config, b bounds) (_ *addresses, err error) {
	a := &addresses{
		publicURL: strings.TrimRight(c.PublicURL, "/"), workerURL: strings.TrimRight(c.WorkerURL, "/"), hostName: b.kind.Can.HostName, proxies: b.proxies,
		certificates: b.certificates,
	}
	defer func() {
		if err != nil {
			_ = a.close()
		}
	}()

	open := func(address string) (base string) {
		if err != nil {
			return ""
		}
		var l net.Listener
		if l, base, err = openAddress(address); err == nil {
			a.listeners = append(a.listeners, l)
		}
		return base
	}

	a.url = open(c.Listen)
	if a.certificates != nil && err == nil {
		a.url = secureBase(a.certificates, a.listeners[0].Addr())
	}
	a.queueURL = a.url
	if c.QueueListen != "" {
		a.queueURL = open(c.QueueListen)
	}
	if c.ACMEListen != "" {
		_ = open(c.ACMEListen)
		a.challenges = len(a.listeners) - 1
	}
	if c.MetricsListen != "" {
		a.metricsURL = open(c.MetricsListen) + "/metrics"
	}
	if err != nil {
		return nil, err
	}

	a.checkWorkers(c)
	if c.SSHListen != "" {
		if a.ssh, err = openDoor(c.SSHListen); err != nil {
			return nil, err
		}
	}
	if c.Docs {
		a.pagesURL = cmp.Or(a.publicURL, a.url) + docs.Root
	}
	if c.Console {
		a.consoleURL = cmp.Or(a.publicURL, a.url) + console.Root
	}
	return a, nil
}

// openAddress opens an address and gives its base.
func openAddress(address string) (net.Listener, string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", err
	}
	return listener{l.(*net.TCPListener)}, "http://" + reachable(l.Addr()), nil
}

// secureBase gives the base of an address that speaks HTTPS.
func secureBase(from certificate.Source, at net.Addr) string {
	host, port, _ := net.SplitHostPort(reachable(at)) // it is an address
	if host = from.Host(host); port == "443" {
		return "https://" + host
	}
	return "https://" + net.JoinHostPort(host, port)
}

// bounded gives the listener of that number with bounds. The first one speaks HTTPS where there are certificates.
func (a *addresses) bounded(i int, connections *limit.Connections) net.Listener {
	if a.certificates != nil && i == 0 {
		return connections.ListenTLS(a.listeners[i], a.certificates.Config())
	}
	return connections.Listen(a.listeners[i])
}

// close closes those that are open still: a server that served one has closed it.
func (a *addresses) close() error {
	var errs []error
	if a.ssh != nil {
		errs = append(errs, a.ssh.close())
	}
	for _, l := range a.listeners {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sshPort is the port at which users log in to their pods; 0: they do not.
func (a *addresses) sshPort() int {
	if a.ssh == nil {
		return 0
	}
	return a.ssh.listener.Addr().(*net.TCPAddr).Port
}

// ofMetrics reports whether the listener of that number is that of the metrics.
func (a *addresses) ofMetrics(i int) bool { return a.metricsURL != "" && i == len(a.listeners)-1 }

// pods gives where HTTP ports of pods are shown.
func (a *addresses) pods(domain string) string {
	return string(podsBelow(cmp.Or(a.publicURL, a.url), domain))
}

// podsBelow gives where HTTP ports of pods are shown by a server that is reached at the base.
func podsBelow(base, domain string) compute.PodAddress {
	at, err := url.Parse(base)
	if err != nil {
		return ""
	}
	host := "{podId}-{port}." + domain
	if port := at.Port(); port != "" {
		host += ":" + port
	}
	return compute.PodAddress(at.Scheme + "://" + host)
}

// shown gives where HTTP ports of pods are, for who sent the request: the names below the domain, or the path where that is shown and the
// domain is the default one, whose names not every client finds.
func (a *addresses) shown(domain string, paths bool) func(*http.Request) compute.PodAddress {
	return func(r *http.Request) compute.PodAddress {
		base := cmp.Or(a.publicURL, a.url)
		if asked, ok := a.proxies.Base(r); ok && a.publicURL == "" {
			base = asked
		}
		if paths && (domain == "" || domain == proxy.DefaultDomain) {
			return compute.PodAddress(base + proxy.PodPaths + "{podId}/{port}/")
		}
		return podsBelow(base, cmp.Or(domain, proxy.DefaultDomain))
	}
}

// balancedWorkers tell where workers are reached, as the proxy finds them.
type balancedWorkers struct {
	use       *useCases
	simulated bool // nothing listens
}

// Address gives host and port; empty: nobody knows.
func (b balancedWorkers) Address(e compute.EndpointID, w compute.WorkerID) string {
	if b.simulated {
		return ""
	}
	address, _ := proxy.Shown(b.use.workers.Ports(w), b.use.queue.Serving(e, w).Port)
	return address
}

// challengeHandler gives what answers an authority.
func (a *addresses) challengeHandler() http.Handler {
	if from, is := a.certificates.(*certificate.ACME); is {
		return from.Challenges()
	}
	return http.NotFoundHandler()
}

// local gives the addresses of the server as programs of this machine connect to them.
func (a *addresses) local() (all []string) {
	for _, l := range a.listeners {
		all = append(all, reachable(l.Addr()))
	}
	return all
}

// reachable gives an address that this machine can connect to: an unspecified one listens on all.
func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return a.String()
}

// queue is the base of the queue, for processes of this machine.
func (a *addresses) queue() string { return a.queueURL }

// outer is the base of the queue for pods, and for workers that are no processes of this machine: a container reaches the machine
// by the name that the runtime gives it, unless the queue listens on an address of its own or there is a public one. All interfaces
// are there.
func (a *addresses) outer() string {
	if base := cmp.Or(a.workerURL, a.publicURL); base != "" {
		return base
	}
	address, err := url.Parse(a.queueURL)
	if err != nil || a.hostName == "" {
		return a.queueURL
	}
	if ip, err := netip.ParseAddr(address.Hostname()); err == nil && ip.IsLoopback() || address.Hostname() == "localhost" {
		address.Host = strings.TrimSuffix(net.JoinHostPort(a.hostName, address.Port()), ":")
	}
	return address.String()
}

// public is the base of all interfaces for who sent the request: the configured one, that which a trusted proxy names, or the
// address of the queue, or with TLS the one that has it.
func (a *addresses) public(r *http.Request) string {
	if a.publicURL != "" {
		return a.publicURL
	}
	if base, ok := a.proxies.Base(r); ok {
		return base
	}
	if a.certificates != nil {
		return a.url
	}
	return a.queueURL
}

// publicHost is the host of the configured base; empty: there is none.
func (a *addresses) publicHost() string {
	base, err := url.Parse(a.publicURL)
	if err != nil {
		return ""
	}
	return base.Host
}

// balanced gives the base of an endpoint that balances load, for who sent the request: its name below the domain, or the path where the
// domain is the default one, whose names not every client finds.
func (a *addresses) balanced(domain string) func(*http.Request, compute.EndpointID) string {
	return func(r *http.Request, id compute.EndpointID) string {
		base := a.public(r)
		at, err := url.Parse(base)
		if err != nil || domain == "" || domain == proxy.DefaultDomain {
			return base + proxy.EndpointPaths + string(id)
		}
		host := string(id) + "." + domain
		if port := at.Port(); port != "" {
			host = net.JoinHostPort(host, port)
		}
		return at.Scheme + "://" + host
	}
}
