package berth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	nethttp "net/http"
	"net/url"
)

// Client gives a client that reaches the server at URL, whatever name its certificate is for, and believes that certificate as it is when it
// connects, beside those that the system trusts. Without TLSCert any client does.
func (s *Server) Client() *nethttp.Client { return s.client }

// newClient makes the client of a server.
func (s *Server) newClient() (*nethttp.Client, error) {
	own, err := url.Parse(s.URL())
	if err != nil {
		return nil, err
	}
	transport := &nethttp.Transport{ForceAttemptHTTP2: true} // its own: the program may have put anything in place of the default one
	s.later(func() error {
		transport.CloseIdleConnections()
		return nil
	})
	if own.Scheme != "https" {
		return &nethttp.Client{Transport: transport}, nil
	}

	transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config := &tls.Config{ServerName: host, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
		if host == own.Hostname() {
			address = s.app.Addr()
			config.RootCAs = s.trusted()
		}
		return (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
	}
	return &nethttp.Client{Transport: transport}, nil
}

// trusted gives the authorities of the system, with the certificate of the server.
func (s *Server) trusted() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if leaf := s.app.Certificate(); leaf != nil {
		pool.AddCert(leaf)
	}
	return pool
}
