package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/berthdev/berth/impl/compute"
)

// LetsEncrypt is the directory of the authority that is asked if nobody says which.
const LetsEncrypt = autocert.DefaultACMEDirectory

// The pauses after a certificate was not issued: the first one, which doubles, and the last. Authorities permit few failures an hour.
const (
	firstPause = time.Minute
	lastPause  = time.Hour
)

// ACMESettings say how certificates are asked for. To ask is to agree to the terms of the authority.
type ACMESettings struct {
	Hosts     []string // each gets a certificate of its own
	Email     string   // that the authority writes to; empty: none
	Directory string   // URL of the authority's
	Cache     string   // directory of certificates and keys, which is made
	Log       *slog.Logger
}

// ACME are certificates that an authority issues, and issues anew before they end (RFC 8555). The protocol is that of
// golang.org/x/crypto/acme/autocert. It proves by tls-alpn-01 on the address itself, or by http-01 where Challenges answers, that the
// hosts lead here.
type ACME struct {
	ACMESettings
	manager *autocert.Manager
	pause   func(context.Context, time.Duration) error

	mu     sync.Mutex
	leaves map[string]*x509.Certificate // by host: those that there are
}

// errNoCertificate is what a handshake fails with.
var errNoCertificate = errors.New("there is no certificate for that host")

// NewACME makes one that has no certificates yet: Run asks for them.
func NewACME(s ACMESettings) (*ACME, error) {
	for i, host := range s.Hosts {
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if !strings.Contains(host, ".") || strings.ContainsAny(host, "*/:@ ") {
			return nil, fmt.Errorf("%q is no host that an authority issues certificates for by ACME's simple proofs: it must be a full name, such as berth.example.com; a wildcard needs a certificate in files", host)
		}
		s.Hosts[i] = host
	}

	a := &ACME{ACMESettings: s, leaves: map[string]*x509.Certificate{}}
	a.pause = func(ctx context.Context, d time.Duration) error { return compute.Sleep(ctx, compute.SystemClock{}, d) }
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(s.Cache), HostPolicy: autocert.HostWhitelist(s.Hosts...), Email: s.Email,
		Client: &acme.Client{DirectoryURL: s.Directory, UserAgent: "berth"},
	}
	return a, nil
}

// Config gives what servers are to speak TLS by.
func (a *ACME) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{acme.ALPNProto}, GetCertificate: a.get}
}

// Challenges gives a handler, of plain HTTP, that answers what the authority asks for, and sends all else on to HTTPS.
func (a *ACME) Challenges() http.Handler {
	return a.manager.HTTPHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(strings.TrimSuffix(r.Host, ":80"))
		if !slices.Contains(a.Hosts, host) {
			http.Error(w, "this address leads nowhere under that name", http.StatusNotFound)
			return
		}
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect) //nolint:gosec // to a host of the settings alone
	}))
}

// get gives a certificate to a handshake. None is asked for then: who connects must not wait for the authority, nor have it asked.
func (a *ACME) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello)
	}
	host := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	a.mu.Lock()
	_, there := a.leaves[host]
	a.mu.Unlock()
	if !there {
		return nil, errNoCertificate
	}
	return a.obtain(host)
}

// obtain gives the certificate of the host, which is asked for if there is none.
func (a *ACME) obtain(host string) (*tls.Certificate, error) {
	pair, err := a.manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: host, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, // one kind of key is enough for every client that there is
		SupportedCurves: []tls.CurveID{tls.CurveP256}, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
	})
	if err != nil {
		return nil, err
	}

	leaf := pair.Leaf
	if leaf == nil {
		if leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaves[host] = leaf
	return pair, nil
}

// Run asks for the certificates that there are not, and again after a pause for those that are refused, until there are all or ctx ends.
// The address must answer already. They are renewed from then on by themselves. No host waits for another: one that the authority does not get
// to must not keep back those whose certificates are there already.
func (a *ACME) Run(ctx context.Context) {
	var asking sync.WaitGroup
	for _, host := range a.Hosts {
		asking.Go(func() { a.ask(ctx, host) })
	}
	asking.Wait()
}

// ask is Run for one host.
func (a *ACME) ask(ctx context.Context, host string) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		obtained := make(chan error, 1)
		go func() { // it ends by itself, five minutes later at the most: autocert takes no context
			_, err := a.obtain(host)
			obtained <- err
		}()

		select {
		case <-ctx.Done():
			return
		case err := <-obtained:
			if err == nil {
				a.Log.Info("there is a certificate", "host", host, "until", a.until(host))
				return
			}
			a.Log.Error("no certificate was issued: it is asked for again", "host", host, "directory", a.Directory, "error", err, "after", pause)
		}
		if a.pause(ctx, pause) != nil {
			return
		}
	}
}

// Leaf gives the certificate of the first host; nil if there is none yet.
func (a *ACME) Leaf() *x509.Certificate {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leaves[a.Hosts[0]]
}

// Host gives the first host, whatever the local address is.
func (a *ACME) Host(string) string { return a.Hosts[0] }

// Names gives the hosts.
func (a *ACME) Names() []string { return a.Hosts }

// until gives when the certificate of the host ends.
func (a *ACME) until(host string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leaves[host].NotAfter
}
