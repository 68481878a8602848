package kubernetes

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Where a Pod finds what it needs to speak to the API server of its cluster.
const (
	inClusterDir  = "/var/run/secrets/kubernetes.io/serviceaccount"
	inClusterHost = "KUBERNETES_SERVICE_HOST"
	inClusterPort = "KUBERNETES_SERVICE_PORT"
)

// defaultNamespace is the one of who names none.
const defaultNamespace = "default"

// credentials are where the API server is, and what proves who asks. They print without secrets, since they print as nothing but the server.
type credentials struct {
	server    string
	namespace string
	transport *http.Transport
	authorize func(*http.Request) error
	inside    bool // berth runs in the cluster, and reaches the addresses of Pods
}

// String gives the server alone.
func (c credentials) String() string { return c.server }

// GoString gives the server alone.
func (c credentials) GoString() string { return c.server }

// source says which credentials are meant.
type source struct {
	file      string // a kubeconfig; empty: that of KUBECONFIG, those of the Pod that berth runs in, or ~/.kube/config
	context   string // in the kubeconfig; empty: its current one
	namespace string // empty: that of the context or of the Pod
}

// load finds the credentials.
func (s source) load() (credentials, error) {
	if s.file == "" && s.context == "" && os.Getenv("KUBECONFIG") == "" && os.Getenv(inClusterHost) != "" {
		return s.inCluster(inClusterDir)
	}
	config, err := readConfigs(s.files())
	if err != nil {
		return credentials{}, err
	}
	return config.credentials(s.context, s.namespace)
}

// files are the kubeconfigs that are meant.
func (s source) files() []string {
	if s.file != "" {
		return []string{s.file}
	}
	if files := filepath.SplitList(os.Getenv("KUBECONFIG")); len(files) > 0 {
		return files
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// inCluster are the credentials of the Pod that berth runs in.
func (s source) inCluster(dir string) (credentials, error) {
	namespace, err := os.ReadFile(filepath.Join(dir, "namespace"))
	if err != nil && s.namespace == "" {
		return credentials{}, fmt.Errorf("kubernetes: the namespace of this Pod: %w", err)
	}
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return credentials{}, fmt.Errorf("kubernetes: the certificates of the API server: %w", err)
	}

	secure, err := trust(authority)
	if err != nil {
		return credentials{}, err
	}
	return credentials{
		server:    "https://" + net.JoinHostPort(os.Getenv(inClusterHost), cmp.Or(os.Getenv(inClusterPort), "443")),
		namespace: cmp.Or(s.namespace, strings.TrimSpace(string(namespace)), defaultNamespace),
		transport: newTransport(secure, nil),
		authorize: bearer((&tokenFile{path: filepath.Join(dir, "token")}).read),
		inside:    true,
	}, nil
}

// trust makes what trusts the certificates alone; those of the system if there are none.
func trust(authority []byte) (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(authority) > 0 {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("kubernetes: the certificate authority of the cluster is no certificate")
		}
	}
	return secure, nil
}

// newTransport makes the connections. A connection that is silent is asked whether it is there still, so that a watch on one that was cut
// without a word ends.
func newTransport(secure *tls.Config, proxy *url.URL) *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: secure, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
		MaxIdleConnsPerHost: mostCalls, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 1 << 20,
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	return t
}

// bearer proves who asks by a token. A nil function and an empty token prove nothing.
func bearer(token func() (string, error)) func(*http.Request) error {
	return func(r *http.Request) error {
		if token == nil {
			return nil
		}
		text, err := token()
		if err == nil && text != "" {
			r.Header.Set("Authorization", "Bearer "+text)
		}
		return err
	}
}

// tokenFile is a file with a token, which is replaced from time to time.
type tokenFile struct {
	path string

	mu    sync.Mutex
	token string
	at    time.Time // when the file was changed
	size  int64
}

// read gives the token that the file has now; while it is empty, the one that it had before.
func (f *tokenFile) read() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Stat(f.path)
	if err != nil {
		return "", tokenError(err)
	}
	if f.token != "" && now.ModTime().Equal(f.at) && now.Size() == f.size {
		return f.token, nil
	}

	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", tokenError(err)
	}
	if token := strings.TrimSpace(string(text)); token != "" {
		f.token, f.at, f.size = token, now.ModTime(), now.Size()
	}
	if f.token == "" {
		return "", errors.New("the token file is empty")
	}
	return f.token, nil
}

// tokenError is without the path of the file: users read why their pods do not go on.
func tokenError(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Errorf("the token file cannot be read: %w", err)
}
