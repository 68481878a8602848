package certificatetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/acme"
)

// Authority issues certificates by ACME, as far as one client goes through it: it proves by a real connection that a host leads to the
// client, but does not check signatures.
type Authority struct {
	Directory string // URL
	Trusted   *x509.CertPool

	challenge string // the type that it offers
	at        func() string
	key       *ecdsa.PrivateKey
	root      *x509.Certificate

	mu         sync.Mutex
	thumbprint string
	orders     []*order
	refuses    int
}

// order is for one host, and stands for its authorization and its challenge, too.
type order struct {
	host  string
	valid bool
	leaf  []byte
}

const token = "the-token-of-a-test"

// NewAuthority starts an authority that proves by the type of challenge, acme.Challenge's, that hosts lead to the address.
func NewAuthority(t testing.TB, challenge string, at func() string) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of a test"}, NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	require.NoError(t, err)
	root, err = x509.ParseCertificate(der)
	require.NoError(t, err)

	a := &Authority{challenge: challenge, at: at, key: key, root: root, Trusted: x509.NewCertPool()}
	a.Trusted.AddCert(root)
	server := httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(server.Close)
	a.Directory = server.URL
	return a
}

// Refuse has the next orders refused.
func (a *Authority) Refuse(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refuses = n
}

// Orders gives how many certificates were asked for.
func (a *Authority) Orders() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.orders)
}

// answer is what of a request and its answer the steps need.
type answer struct {
	protected struct {
		JWK struct{ X, Y, Crv, Kty string }
	}
	payload struct {
		Identifiers []struct{ Value string }
		CSR         string
	}
}

func (a *Authority) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Replay-Nonce", "a nonce")
	var asked answer
	if r.Method == http.MethodPost {
		var signed struct{ Protected, Payload string }
		_ = json.NewDecoder(r.Body).Decode(&signed)
		for text, to := range map[string]any{signed.Protected: &asked.protected, signed.Payload: &asked.payload} {
			decoded, _ := base64.RawURLEncoding.DecodeString(text)
			_ = json.Unmarshal(decoded, to)
		}
	}

	step, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	var number int
	_, _ = fmt.Sscan(rest, &number)
	if rest != "" && number >= len(a.orders) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	status, document := a.step(w, step, number, asked)
	if document == nil {
		w.WriteHeader(status)
		return
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

// step answers a request; the document is nil where it has answered itself.
func (a *Authority) step(w http.ResponseWriter, step string, n int, asked answer) (status int, document any) {
	switch step {
	case "":
		return 200, map[string]any{"newNonce": a.Directory + "/nonce", "newAccount": a.Directory + "/account", "newOrder": a.Directory + "/order"}
	case "account":
		jwk := asked.protected.JWK
		sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":%q,"kty":%q,"x":%q,"y":%q}`, jwk.Crv, jwk.Kty, jwk.X, jwk.Y))
		a.thumbprint = base64.RawURLEncoding.EncodeToString(sum[:])
		w.Header().Set("Location", a.Directory+"/accounts/1")
		return 201, map[string]any{"status": "valid"}

	case "order":
		if a.refuses > 0 {
			a.refuses--
			return 403, map[string]any{"type": "urn:ietf:params:acme:error:rejectedIdentifier"}
		}
		a.orders = append(a.orders, &order{host: asked.payload.Identifiers[0].Value})
		n = len(a.orders) - 1
		w.Header().Set("Location", fmt.Sprint(a.Directory, "/orders/", n))
		return 201, a.order(n)
	case "orders":
		return 200, a.order(n)

	case "authorization":
		return 200, map[string]any{
			"status": a.orders[n].status("pending", "valid"), "identifier": map[string]any{"type": "dns", "value": a.orders[n].host},
			"challenges": []any{map[string]any{"type": a.challenge, "token": token, "url": fmt.Sprint(a.Directory, "/challenge/", n)}},
		}
	case "challenge":
		a.orders[n].valid = a.proves(a.orders[n].host)
		return 200, map[string]any{"type": a.challenge, "token": token, "status": a.orders[n].status("invalid", "valid")}

	case "finalize":
		a.orders[n].leaf = a.issue(asked.payload.CSR)
		w.Header().Set("Location", fmt.Sprint(a.Directory, "/orders/", n))
		return 200, a.order(n)
	case "certificate":
		w.Header().Set("Content-Type", "application/pem-certificate-chain")
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: a.orders[n].leaf})
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: a.root.Raw})
	}
	return 200, nil
}

func (o *order) status(before, after string) string {
	if o.valid {
		return after
	}
	return before
}

func (a *Authority) order(n int) map[string]any {
	o := a.orders[n]
	document := map[string]any{
		"status": o.status("pending", "ready"), "authorizations": []string{fmt.Sprint(a.Directory, "/authorization/", n)}, "finalize": fmt.Sprint(a.Directory, "/finalize/", n),
	}
	if o.leaf != nil {
		document["status"], document["certificate"] = "valid", fmt.Sprint(a.Directory, "/certificate/", n)
	}
	return document
}

// issue gives a certificate for the names of the request.
func (a *Authority) issue(request string) []byte {
	der, _ := base64.RawURLEncoding.DecodeString(request)
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "issued"}, NotBefore: notBefore, NotAfter: notAfter, DNSNames: csr.DNSNames,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	issued, err := x509.CreateCertificate(rand.Reader, leaf, a.root, csr.PublicKey, a.key)
	if err != nil {
		return nil
	}
	return issued
}

// proves reports whether who answers at the address has the key of the account.
func (a *Authority) proves(host string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	want := token + "." + a.thumbprint
	if a.challenge == "http-01" {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.at()+"/.well-known/acme-challenge/"+token, nil)
		if err != nil {
			return false
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		return err == nil && string(text) == want
	}

	dialer := tls.Dialer{Config: &tls.Config{ServerName: host, NextProtos: []string{acme.ALPNProto}, InsecureSkipVerify: true}} //nolint:gosec // it is looked at below
	conn, err := dialer.DialContext(ctx, "tcp", a.at())
	if err != nil {
		return false
	}
	defer func(c net.Conn) { _ = c.Close() }(conn)
	state := conn.(*tls.Conn).ConnectionState()
	sum := sha256.Sum256([]byte(want))
	for _, e := range state.PeerCertificates[0].Extensions {
		if e.Id.String() == "1.3.6.1.5.5.7.1.31" {
			return state.NegotiatedProtocol == acme.ALPNProto && bytes.HasSuffix(e.Value, sum[:])
		}
	}
	return false
}
