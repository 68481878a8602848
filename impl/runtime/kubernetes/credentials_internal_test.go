package kubernetes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// secureServer serves the version over TLS to who has the token or a certificate, and gives its certificate.
func secureServer(t *testing.T, token func() string) (*httptest.Server, []byte) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer "+token() && len(r.TLS.PeerCertificates) == 0 && (user != "u" || password != "s3cret") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"gitVersion": "v1.36.3"}`))
	}))
	s.EnableHTTP2, s.TLS = true, &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// ping asks for the version with the credentials.
func ping(t *testing.T, c credentials) error {
	t.Helper()
	one := newClient(c, compute.SystemClock{})
	t.Cleanup(one.close)
	return one.do(t.Context(), call{what: "get the version", method: http.MethodGet, path: "/version"}, nil)
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// pair makes a certificate of a user, with its key.
func pair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func TestKubeconfig_ProvesWhoAsksInEachWay(t *testing.T) {
	t.Parallel()
	s, authority := secureServer(t, func() string { return "t0ken" })
	dir := t.TempDir()
	certificate, key := pair(t)
	encoded := base64.StdEncoding.EncodeToString
	write(t, filepath.Join(dir, "ca.crt"), string(authority))
	write(t, filepath.Join(dir, "user.crt"), string(certificate))
	write(t, filepath.Join(dir, "user.key"), string(key))
	write(t, filepath.Join(dir, "token"), "t0ken\n")
	cluster := func(more string) string { return fmt.Sprintf("{server: %q, %s}", s.URL, more) }
	data, file, insecure := cluster("certificate-authority-data: "+encoded(authority)), cluster("certificate-authority: ca.crt"), cluster("insecure-skip-tls-verify: true")

	for name, test := range map[string]struct{ cluster, user string }{
		"a token":                             {data, "{token: t0ken}"},
		"a token file":                        {file, "{tokenFile: token}"},
		"a certificate":                       {data, fmt.Sprintf("{client-certificate-data: %s, client-key-data: %s}", encoded(certificate), encoded(key))},
		"certificate files":                   {file, "{client-certificate: user.crt, client-key: user.key}"},
		"a password":                          {file, "{username: u, password: s3cret}"},
		"a server that nobody vouches for":    {insecure, "{token: t0ken}"},
		"a server that has another name":      {cluster("certificate-authority: ca.crt, tls-server-name: example.com"), "{token: t0ken}"},
		"a token that goes before a password": {file, "{token: t0ken, username: u, password: wrong}"},
	} {
		path := write(t, filepath.Join(dir, fmt.Sprintf("config-%x", name)), fmt.Sprintf(`
current-context: a
contexts: [{name: a, context: {cluster: c, user: u, namespace: pods}}, {name: b, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: %s}]
users: [{name: u, user: %s}]`, test.cluster, test.user))
		found, err := source{file: path}.load()
		require.NoError(t, err, name)
		require.Equal(t, "pods", found.namespace)
		require.NoError(t, ping(t, found), name)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", found, found, found), "t0ken")

		found, err = source{file: path, context: "b"}.load()
		require.NoError(t, err)
		require.Equal(t, "default", found.namespace)
		found, err = source{file: path, namespace: "other"}.load()
		require.NoError(t, err)
		require.Equal(t, s.URL+"/api/v1/namespaces/other", found.address())

		again, err := source{file: path, context: "b"}.at(found.address())
		require.NoError(t, err)
		require.Equal(t, found.address(), again.address())
	}
}

func TestKubeconfig_ThatProvesNothingIsRefusedByTheServer(t *testing.T) {
	t.Parallel()
	s, authority := secureServer(t, func() string { return "t0ken" })
	config := func(more, user string) credentials {
		path := write(t, filepath.Join(t.TempDir(), "config"), fmt.Sprintf(`{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}],
			clusters: [{name: c, cluster: {server: %q, %s}}], users: [{name: u, user: %s}]}`, s.URL, more, user))
		found, err := source{file: path}.load()
		require.NoError(t, err)
		return found
	}
	trusted := "certificate-authority-data: " + base64.StdEncoding.EncodeToString(authority)
	require.True(t, answered(ping(t, config(trusted, "{token: wrong}")), http.StatusUnauthorized))
	require.True(t, answered(ping(t, config(trusted, "{}")), http.StatusUnauthorized))
	err := ping(t, config("proxy-url: ''", "{token: t0ken}"))
	require.ErrorIs(t, err, runtime.ErrUnavailable, "its certificate is nobody's")
	require.NotContains(t, err.Error(), "t0ken")
}

func TestKubeconfig_WithWhatIsNotSupportedOrMakesNoSenseIsAClearError(t *testing.T) {
	t.Parallel()
	const cluster, context = `{name: c, cluster: {server: "https://127.0.0.1:1"}}`, `{name: a, context: {cluster: c, user: u}}`
	for _, test := range []struct{ contexts, clusters, user, says string }{
		{context, cluster, `{exec: {command: helper, apiVersion: v1}}`, `the user "u" of the kubeconfig gets its credentials from a program (exec)`},
		{context, cluster, `{auth-provider: {name: gcp}}`, `the user "u" of the kubeconfig has an auth-provider`},
		{context, cluster, `{client-certificate-data: "!"}`, `the certificate of the user "u": it is not base64`},
		{context, cluster, `{client-certificate-data: YQ==, client-key-data: YQ==}`, `the certificate of the user "u" and its key do not go together`},
		{``, cluster, `{}`, `the kubeconfig has no context "a"`},
		{context, ``, `{}`, `the kubeconfig has no cluster "c", which its context "a" names`},
		{`{name: a, context: {cluster: c, user: nobody}}`, cluster, `{}`, `the kubeconfig has no user "nobody", which its context "a" names`},
		{context, `{name: c, cluster: {server: "127.0.0.1:1"}}`, `{}`, `the server of the cluster "c" must be a URL with https`},
		{context, `{name: c, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: YQ==}}`, `{}`, `the certificate authority of the cluster is no certificate`},
	} {
		path := write(t, filepath.Join(t.TempDir(), "config"), fmt.Sprintf("{current-context: a, contexts: [%s], clusters: [%s], users: [{name: u, user: %s}]}", test.contexts, test.clusters, test.user))
		_, err := source{file: path}.load()
		require.ErrorContains(t, err, test.says)
	}

	_, err := source{file: write(t, filepath.Join(t.TempDir(), "config"), "users: {s3cret")}.load()
	require.ErrorContains(t, err, "is no kubeconfig")
	require.NotContains(t, err.Error(), "s3cret")
	_, err = source{file: write(t, filepath.Join(t.TempDir(), "config"), "{}")}.load()
	require.ErrorContains(t, err, "no current context")
	_, err = source{file: filepath.Join(t.TempDir(), "none")}.load()
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = source{file: filepath.Join(t.TempDir(), "none")}.at("https://127.0.0.1:1/api/v1/namespaces/x")
	require.ErrorContains(t, err, "no kubeconfig at hand has a context for https://127.0.0.1:1/api/v1/namespaces/x")
	_, err = source{}.at("nowhere")
	require.ErrorContains(t, err, `"nowhere" is no address of a namespace`)
}

// Not parallel: it sets variables.
func TestKubeconfig_ThoseOfTheVariableCountAsOne(t *testing.T) {
	dir := t.TempDir()
	first := write(t, filepath.Join(dir, "first"), `{current-context: a, contexts: [{name: a, context: {cluster: c, namespace: one}}]}`)
	second := write(t, filepath.Join(dir, "second"), `{current-context: b, contexts: [{name: a, context: {cluster: c, namespace: two}}], clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]}`)
	t.Setenv("KUBECONFIG", first+string(filepath.ListSeparator)+second+string(filepath.ListSeparator)+filepath.Join(dir, "none"))
	found, err := source{}.load()
	require.NoError(t, err)
	require.Equal(t, "https://127.0.0.1:1/api/v1/namespaces/one", found.address())
}

// Not parallel: it sets variables.
func TestInCluster_TheTokenIsReadAgainWhenItChanges(t *testing.T) {
	token := "first"
	s, authority := secureServer(t, func() string { return token })
	address, err := url.Parse(s.URL)
	require.NoError(t, err)
	t.Setenv(inClusterHost, address.Hostname())
	t.Setenv(inClusterPort, address.Port())
	t.Setenv("KUBECONFIG", "")
	_, err = source{}.load()
	require.ErrorIs(t, err, os.ErrNotExist, "this is no Pod")

	dir := t.TempDir()
	write(t, filepath.Join(dir, "ca.crt"), string(authority))
	write(t, filepath.Join(dir, "namespace"), "mine")
	write(t, filepath.Join(dir, "token"), token)
	found, err := source{}.inCluster(dir)
	require.True(t, found.inside)
	require.NoError(t, err)
	require.Equal(t, "mine", found.namespace)
	require.NoError(t, ping(t, found))

	token = "another"
	require.True(t, answered(ping(t, found), http.StatusUnauthorized))
	write(t, filepath.Join(dir, "token"), token)
	require.NoError(t, ping(t, found))
	write(t, filepath.Join(dir, "token"), "")
	require.NoError(t, ping(t, found), "it is just being replaced")
	token = "a third"
	write(t, filepath.Join(dir, "token"), token)
	require.NoError(t, ping(t, found))
}

// It says nothing of a pod that a file cannot be read now.
func TestTokenFile_ThatCannotBeReadIsReadLater(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	c := newClient(credentials{transport: newTransport(nil, nil), authorize: bearer((&tokenFile{path: path}).read)}, compute.SystemClock{})
	err := c.do(t.Context(), call{what: "get the version", method: http.MethodGet, path: "/version"}, nil)
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorContains(t, err, "the token file cannot be read")
	require.NotContains(t, err.Error(), path)
	write(t, path, "\n")
	_, err = c.dial(t.Context(), "run a command", "/exec")
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.ErrorContains(t, err, "the token file is empty")
}

func TestQuantity_IsReadInEveryForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[quantity]float64{
		"": 0, "2": 2, "500m": 0.5, "1500000n": 0.0015, "250u": 0.00025, "1.5": 1.5, "64Gi": 64 << 30, "128974848": 128974848, "129e6": 129e6, "129M": 129e6, "1Ki": 1024,
		"12E": 12e18, "nonsense": 0, "5x": 0, "-1": -1, "NaN": 0, "Inf": 0,
	} {
		require.InDelta(t, want, text.value(), 1e-9, text)
	}
}

func TestClean_LeavesNoSecretOfAURL(t *testing.T) {
	t.Parallel()
	text := clean("Get \"https://user:s3cret@registry.test/v2/a?X-Sig=s3cret&b=c\":\n  not\tfound")
	require.Equal(t, `Get "https://registry.test/v2/a": not found`, text)
	long := make([]byte, 2*mostMessage)
	for i := range long {
		long[i] = 'a'
	}
	require.Len(t, clean(string(long)), mostMessage+len("…"))
}

func TestVersions_OlderNewsAreNotTaken(t *testing.T) {
	t.Parallel()
	require.True(t, newer("10", "9"))
	require.True(t, newer("9", "9"))
	require.False(t, newer("9", "10"))
	require.True(t, newer("opaque", "10"), "of what is no number nothing is known")
}
