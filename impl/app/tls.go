package app

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/certificate"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// errHalfPair is the error of one file without the other.
var errHalfPair = errors.New("tls-cert and tls-key must both be set: they are the certificate and its key")

// errTwoCertificates is the error of files beside names for which an authority is to be asked.
var errTwoCertificates = errors.New("there is a certificate of an authority, or one in files, --tls-cert: not both")

// errACMEAlone is the error of names for which an authority is to be asked by several servers.
var errACMEAlone = errors.New("an authority is asked by one server: the servers of one --store share their name, and an authority asks any of them for the proof. Give all of them the same --tls-cert, or put a proxy with TLS before them")

// openCertificates gives what the settings say of certificates; nil: the server speaks plain HTTP.
func openCertificates(c Config) (certificate.Source, error) {
	switch {
	case len(c.ACMEHosts) > 0 && c.TLSCert+c.TLSKey != "":
		return nil, ofSetting("acme-hosts", strings.Join(c.ACMEHosts, ","), errTwoCertificates)
	case len(c.ACMEHosts) > 0 && c.Store != "":
		return nil, ofSetting("acme-hosts", strings.Join(c.ACMEHosts, ","), errACMEAlone)
	case len(c.ACMEHosts) > 0:
		return openACME(c)
	case c.ACMEListen != "":
		return nil, ofSetting("acme-listen", c.ACMEListen, errors.New("it is for the proofs of --acme-hosts, of which there are none"))
	case c.TLSCert == "" && c.TLSKey == "":
		return nil, nil //nolint:nilnil // most have none
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		missing := map[bool]string{true: "tls-cert", false: "tls-key"}[c.TLSCert == ""]
		return nil, ofSetting(missing, "", errHalfPair)
	}
	if err := closedToOthers(c.TLSKey); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log.Warn("who can read the key of the certificate can pretend to be this server", "error", err)
	}
	files, err := certificate.OpenFiles(c.TLSCert, c.TLSKey, c.Log)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return files, nil
}

// openACME gives the certificates of an authority.
func openACME(c Config) (certificate.Source, error) {
	var hosts []string
	for _, list := range c.ACMEHosts {
		for host := range strings.SplitSeq(list, ",") {
			hosts = append(hosts, strings.TrimSpace(host))
		}
	}
	a, err := certificate.NewACME(certificate.ACMESettings{
		Hosts: hosts, Email: c.ACMEEmail, Directory: c.ACMEDirectory, Cache: filepath.Join(c.Data, acmeDir), Log: c.Log,
	})
	if err != nil {
		return nil, ofSetting("acme-hosts", strings.Join(hosts, ","), err)
	}
	return a, nil
}

// askForCertificates asks an authority for those that there are not yet, now that the addresses answer.
func (s *Server) askForCertificates(u *undo) {
	if a, is := s.at.certificates.(*certificate.ACME); is {
		asking := newGroup()
		asking.running.Go(func() { a.Run(asking.ctx) })
		u.push("certificates", asking.end)
	}
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
