package app

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/reference"
)

// hostsOf gives the names of the server: those that are configured, and those in the addresses that it is configured with.
func hostsOf(c Config) (*limit.Hosts, error) {
	names := slices.Clone(c.AllowedHosts)
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

// publicURL is the base of all interfaces for who sent the request: the configured one, that which a trusted proxy names, or the
// address of the queue.
func (s *Server) publicURL(r *http.Request) string {
	if s.config.PublicURL != "" {
		return strings.TrimRight(s.config.PublicURL, "/")
	}
	if base, ok := s.proxies.Base(r); ok {
		return base
	}
	return s.queueURL
}

// PagesURL is where the reference pages are; empty if they are not served.
func (s *Server) PagesURL() string {
	if !s.config.Docs {
		return ""
	}
	if s.config.PublicURL != "" {
		return strings.TrimRight(s.config.PublicURL, "/") + reference.Root
	}
	return s.url + reference.Root
}
