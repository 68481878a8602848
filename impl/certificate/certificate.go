// Package certificate gives a server its certificates: those of files, which are read again when they change.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const (
	lookSpan = time.Second         // between two looks at the files
	soon     = 14 * 24 * time.Hour // before its end a certificate is warned of
)

// Source is where certificates are from.
type Source interface {
	// Config gives what servers are to speak TLS by.
	Config() *tls.Config
	// Leaf gives the certificate as it is now; nil if there is none yet.
	Leaf() *x509.Certificate
	// Host gives a host by which clients that check the certificate reach the local address.
	Host(local string) string
	// Names gives the host names, without wildcards, that the certificate is for.
	Names() []string
}

// Files are a certificate, with those between it and its authority, and its key, in files of PEM.
type Files struct {
	certificate, key string
	now              func() time.Time
	log              *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fs.FileInfo // of the files when they were read last
	next    time.Time      // when they are looked at again
}

// OpenFiles reads the files. They are looked at once a second at most, when somebody connects. If they change, they are read again; what
// cannot be used is logged, and the certificate before stays.
func OpenFiles(certificate, key string, log *slog.Logger) (*Files, error) {
	return openFiles(certificate, key, log, compute.SystemClock{}.Now)
}

func openFiles(certificate, key string, log *slog.Logger, now func() time.Time) (*Files, error) {
	f := &Files{certificate: certificate, key: key, now: now, log: log}
	seen, err := f.look()
	if err != nil {
		return nil, err
	}
	f.seen, f.next = seen, now().Add(lookSpan)
	f.current, err = f.read()
	return f, err
}

// Config gives what servers are to speak TLS by.
func (f *Files) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.get(), nil }}
}

// Leaf gives the certificate as it is now.
func (f *Files) Leaf() *x509.Certificate { return f.get().Leaf }

// Host gives a host by which clients that check the certificate reach the local address.
func (f *Files) Host(local string) string { return hostOf(f.Leaf(), local) }

// Names gives the host names, without wildcards, that the certificate is for as it is now.
func (f *Files) Names() []string {
	return slices.DeleteFunc(slices.Clone(f.Leaf().DNSNames), func(name string) bool { return strings.HasPrefix(name, "*") })
}

func (f *Files) get() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.now()
	if at.Before(f.next) {
		return f.current
	}

	f.next = at.Add(lookSpan)
	seen, err := f.look()
	if err == nil && same(seen[0], f.seen[0]) && same(seen[1], f.seen[1]) {
		return f.current
	}
	if err != nil && f.seen[0] == nil {
		return f.current // it was said already
	}
	f.seen = seen

	if err == nil {
		var read *tls.Certificate
		if read, err = f.read(); err == nil {
			f.current = read
			f.log.Info("the certificate was read anew", "file", f.certificate, "until", read.Leaf.NotAfter)
		}
	}
	if err != nil {
		f.log.Error("the certificate has changed and cannot be used: the one before is kept", "error", err)
	}
	return f.current
}

// look gives what the system says of the files; nothing if one is not there.
func (f *Files) look() (seen [2]fs.FileInfo, err error) {
	for i, file := range []string{f.certificate, f.key} {
		if seen[i], err = os.Stat(file); err != nil {
			return [2]fs.FileInfo{}, err
		}
	}
	return seen, nil
}

// same reports whether a file seems to be as it was.
func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (f *Files) read() (*tls.Certificate, error) {
	pair, err := readPair(f.certificate, f.key)
	if err != nil {
		return nil, err
	}
	for _, warning := range Warnings(pair.Leaf) {
		f.log.Warn("the certificate is in use, but "+warning, "file", f.certificate)
	}
	return pair, nil
}

func readPair(certificate, key string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key) // it has the leaf
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", certificate, key, err)
	}
	return &pair, nil
}

// Read gives the certificate of the files. The error says why it cannot be used.
func Read(certificate, key string) (*x509.Certificate, error) {
	pair, err := readPair(certificate, key)
	if err != nil {
		return nil, err
	}
	return pair.Leaf, nil
}

// Names gives the hosts and addresses that a certificate is for.
func Names(leaf *x509.Certificate) (names []string) {
	names = append(names, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// Warnings say what is wrong with the time for which a certificate is good.
func Warnings(leaf *x509.Certificate) []string {
	now := compute.SystemClock{}.Wall()
	switch {
	case now.Before(leaf.NotBefore):
		return []string{"it is good only from " + leaf.NotBefore.Format(time.RFC3339)}
	case now.After(leaf.NotAfter):
		return []string{"it has ended at " + leaf.NotAfter.Format(time.RFC3339)}
	case now.Add(soon).After(leaf.NotAfter):
		return []string{"it ends soon, at " + leaf.NotAfter.Format(time.RFC3339)}
	}
	return nil
}

// hostOf gives the local address itself if the certificate is for it, else localhost if it is a loopback one, else the first name of the
// certificate that names one host for all.
func hostOf(leaf *x509.Certificate, local string) string {
	if leaf.VerifyHostname(local) == nil {
		return local
	}
	if ip := net.ParseIP(local); ip != nil && ip.IsLoopback() && leaf.VerifyHostname("localhost") == nil {
		return "localhost"
	}
	for _, name := range leaf.DNSNames {
		if !strings.HasPrefix(name, "*") && name != "localhost" {
			return name
		}
	}
	return local
}
