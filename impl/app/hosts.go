package app

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

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

	if c.PublicURL != "" {
		if base, err := url.Parse(c.PublicURL); err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.User != nil {
			return nil, fmt.Errorf("the public URL must be like https://pods.example.com, without a path, and not %q", c.PublicURL)
		}
	}

	for _, address := range []string{c.WorkerURL, c.PublicURL} {
		if base, err := url.Parse(address); err == nil && base.Hostname() != "" {
			names = append(names, base.Hostname())
		}
	}

	h, err := limit.NewHosts(names)
	if err != nil {
		return nil, fmt.Errorf("allowed hosts: %w", err)
	}
	return h, nil
}
