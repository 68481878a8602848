// Package certificatetest makes certificates for tests.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The years between which certificates of tests are good: the fake time of testing/synctest is between them.
var notBefore, notAfter = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)

// New gives a certificate for the names, which are hosts or addresses, and its key, as PEM. It is its own authority.
func New(t testing.TB, names ...string) (certificate, key []byte) {
	t.Helper()
	return Until(t, notAfter, names...)
}

// Until is New with a certificate that ends then.
func Until(t testing.TB, end time.Time, names ...string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "a test"}, NotBefore: notBefore, NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// Files writes a certificate for the names, and its key, to files, and gives these and what trusts it.
func Files(t testing.TB, names ...string) (certificate, key string, trusted *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	return certificate, key, Write(t, certificate, key, names...)
}

// Write writes another certificate to the files, and gives what trusts it.
func Write(t testing.TB, certificate, key string, names ...string) (trusted *x509.CertPool) {
	t.Helper()
	certificatePEM, keyPEM := New(t, names...)
	require.NoError(t, os.WriteFile(certificate, certificatePEM, 0o600))
	require.NoError(t, os.WriteFile(key, keyPEM, 0o600))
	return Trust(t, certificatePEM)
}

// Trust gives what trusts the certificate.
func Trust(t testing.TB, certificate []byte) *x509.CertPool {
	t.Helper()
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(certificate))
	return trusted
}

// Pair gives a certificate for the names, and what trusts it.
func Pair(t testing.TB, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	certificatePEM, keyPEM := New(t, names...)
	pair, err := tls.X509KeyPair(certificatePEM, keyPEM)
	require.NoError(t, err)
	return pair, Trust(t, certificatePEM)
}
