package app

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"

	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// errHalfPair is the error of one file without the other.
var errHalfPair = errors.New("tls-cert and tls-key must both be set: they are the certificate and its key")

// openCertificates gives what the settings say of certificates; nil: the server speaks plain HTTP.
func openCertificates(c Config) (certificate.Source, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil //nolint:nilnil // most have none
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil, errHalfPair
	}
	if err := closedToOthers(c.TLSKey); err != nil {
		c.Log.Warn("who can read the key of the certificate can pretend to be this server", "error", err)
	}
	files, err := certificate.OpenFiles(c.TLSCert, c.TLSKey, c.Log)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return files, nil
}

// Certificate is the certificate that the server shows as it is now; nil if it has none.
func (s *Server) Certificate() *x509.Certificate {
	if s.at.certificates == nil {
		return nil
	}
	return s.at.certificates.Leaf()
}

// Addr is where the server listens, as host and port that programs of this machine can connect to.
func (s *Server) Addr() string { return reachable(s.at.listeners[0].Addr()) }

// checkWorkers warns where workers would not believe that the address which they are given is this server's.
func (a *addresses) checkWorkers(c Config) {
	if a.certificates == nil || a.hostName == "" {
		return
	}
	base, err := url.Parse(a.outer())
	if leaf := a.certificates.Leaf(); err != nil || base.Scheme != "https" || leaf == nil || leaf.VerifyHostname(base.Hostname()) == nil {
		return
	}
	c.Log.Warn("the certificate is not for the address at which workers in containers reach the server: set --queue-listen, which is plain HTTP, or --worker-url", "address", base.String())
}

// examineTLS reports how the certificate stands that the settings name.
func examineTLS(v setting.Values) Finding {
	f := findingOf("tls", runtime.Report{})
	file, key := v.Text("tls-cert"), v.Text("tls-key")
	if file == "" || key == "" {
		f.Detail = errHalfPair.Error()
		return f
	}

	leaf, err := certificate.Read(file, key)
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	f.Available, f.Detail = true, fmt.Sprintf("%s is for %v, until %s", file, certificate.Names(leaf), leaf.NotAfter.Format("2006-01-02"))
	f.Warnings = append(f.Warnings, certificate.Warnings(leaf)...)
	if err := closedToOthers(key); err != nil {
		f.Warnings = append(f.Warnings, err.Error())
	}
	return f
}
