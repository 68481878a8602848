package app

import (
	"net"
	"net/url"
	"slices"

	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/limit"
)

// hostsOf gives the names of the server: those that are configured, those in the addresses that it is configured with, and those that its
// certificate is for.
func hostsOf(c Config, certificates certificate.Source) (*limit.Hosts, error) {
	names := slices.Clone(c.AllowedHosts)
	if certificates != nil {
		names = append(names, certificates.Names()...)
	}
	for _, address := range []string{c.Listen, c.QueueListen, c.MetricsListen} {
		if host, _, err := net.SplitHostPort(address); err == nil && host != "" {
			names = append(names, host)
		}
	}

	for _, address := range []string{c.WorkerURL, c.PublicURL} {
		if base, err := url.Parse(address); err == nil && base.Hostname() != "" {
			names = append(names, base.Hostname())
		}
	}

	return limit.NewHosts(names)
}
