package kubernetes

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// kubeconfig is what is read of such files.
type kubeconfig struct {
	CurrentContext string         `yaml:"current-context"`
	Contexts       []namedContext `yaml:"contexts"`
	Clusters       []namedCluster `yaml:"clusters"`
	Users          []namedUser    `yaml:"users"`
}

type namedContext struct {
	Name    string `yaml:"name"`
	Context struct {
		Cluster   string `yaml:"cluster"`
		User      string `yaml:"user"`
		Namespace string `yaml:"namespace"`
	} `yaml:"context"`
}

type namedCluster struct {
	dir     string // that paths are relative to
	Name    string `yaml:"name"`
	Cluster struct {
		Server        string `yaml:"server"`
		ServerName    string `yaml:"tls-server-name"`
		Authority     string `yaml:"certificate-authority"`
		AuthorityData string `yaml:"certificate-authority-data"`
		Insecure      bool   `yaml:"insecure-skip-tls-verify"`
		Proxy         string `yaml:"proxy-url"`
	} `yaml:"cluster"`
}

type namedUser struct {
	dir  string
	Name string `yaml:"name"`
	User struct {
		Token           string    `yaml:"token"`
		TokenFile       string    `yaml:"tokenFile"`
		Certificate     string    `yaml:"client-certificate"`
		CertificateData string    `yaml:"client-certificate-data"`
		Key             string    `yaml:"client-key"`
		KeyData         string    `yaml:"client-key-data"`
		Username        string    `yaml:"username"`
		Password        string    `yaml:"password"`
		Exec            *struct{} `yaml:"exec"`
		Provider        *struct{} `yaml:"auth-provider"`
	} `yaml:"user"`
}

// mostConfig is how large a kubeconfig may be, in bytes.
const mostConfig = 4 << 20

// readConfigs reads kubeconfigs as one: of two things of one name the first counts. Files that are not there are left out, unless all are.
func readConfigs(paths []string) (all kubeconfig, err error) {
	read := 0
	for _, path := range paths {
		one, err := readConfig(path)
		if errors.Is(err, fs.ErrNotExist) && len(paths) > 1 {
			continue
		}
		if err != nil {
			return all, err
		}

		read++
		all.CurrentContext = cmp.Or(all.CurrentContext, one.CurrentContext)
		all.Contexts = append(all.Contexts, one.Contexts...)
		all.Clusters = append(all.Clusters, one.Clusters...)
		all.Users = append(all.Users, one.Users...)
	}

	if read == 0 {
		return all, fmt.Errorf("kubernetes: there is no kubeconfig, and berth is in no Pod: %q", paths)
	}
	return all, nil
}

func readConfig(path string) (c kubeconfig, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return c, fmt.Errorf("kubernetes: kubeconfig: %w", err)
	}
	if info.Size() > mostConfig {
		return c, fmt.Errorf("kubernetes: kubeconfig: %s has over %d bytes", path, mostConfig)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("kubernetes: kubeconfig: %w", err)
	}
	if yaml.Unmarshal(text, &c) != nil { // whose error may show a part of the file
		return c, fmt.Errorf("kubernetes: %s is no kubeconfig", path)
	}

	dir := filepath.Dir(path)
	for i := range c.Clusters {
		c.Clusters[i].dir = dir
	}
	for i := range c.Users {
		c.Users[i].dir = dir
	}
	return c, nil
}

// credentials gives those of a context; of an empty name, the current one's.
func (c kubeconfig) credentials(name, namespace string) (credentials, error) {
	if name = cmp.Or(name, c.CurrentContext); name == "" {
		return credentials{}, errors.New("kubernetes: the kubeconfig has no current context, and none was named")
	}
	at := slices.IndexFunc(c.Contexts, func(x namedContext) bool { return x.Name == name })
	if at < 0 {
		return credentials{}, fmt.Errorf("kubernetes: the kubeconfig has no context %q", name)
	}

	context := c.Contexts[at].Context
	at = slices.IndexFunc(c.Clusters, func(x namedCluster) bool { return x.Name == context.Cluster })
	if at < 0 {
		return credentials{}, fmt.Errorf("kubernetes: the kubeconfig has no cluster %q, which its context %q names", context.Cluster, name)
	}
	cluster := c.Clusters[at]
	user := namedUser{}
	if context.User != "" {
		if at = slices.IndexFunc(c.Users, func(x namedUser) bool { return x.Name == context.User }); at < 0 {
			return credentials{}, fmt.Errorf("kubernetes: the kubeconfig has no user %q, which its context %q names", context.User, name)
		}
		user = c.Users[at]
	}

	found := credentials{server: cluster.Cluster.Server, namespace: cmp.Or(namespace, context.Namespace, defaultNamespace)}
	if address, err := url.Parse(found.server); err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" {
		return credentials{}, fmt.Errorf("kubernetes: the server of the cluster %q must be a URL with https", cluster.Name)
	}

	secure, err := cluster.secure()
	if err != nil {
		return credentials{}, err
	}
	if found.authorize, err = user.prove(secure); err != nil {
		return credentials{}, err
	}

	var proxy *url.URL
	if text := cluster.Cluster.Proxy; text != "" {
		if proxy, err = url.Parse(text); err != nil {
			return credentials{}, fmt.Errorf("kubernetes: the proxy of the cluster %q is no URL", cluster.Name)
		}
	}
	found.transport = newTransport(secure, proxy)
	return found, nil
}

// secure says which server is believed to be that of the cluster.
func (c namedCluster) secure() (*tls.Config, error) {
	authority, err := content(c.dir, c.Cluster.Authority, c.Cluster.AuthorityData)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: the certificate authority of the cluster %q: %w", c.Name, err)
	}
	secure, err := trust(authority)
	if err != nil {
		return nil, err
	}
	secure.ServerName = c.Cluster.ServerName
	secure.InsecureSkipVerify = c.Cluster.Insecure // the operator's kubeconfig says so
	return secure, nil
}

// prove gives what proves who asks: in the header of requests, or by a certificate that it adds to secure.
func (u namedUser) prove(secure *tls.Config) (func(*http.Request) error, error) {
	user := u.User
	switch {
	case user.Exec != nil:
		return nil, fmt.Errorf("kubernetes: the user %q of the kubeconfig gets its credentials from a program (exec), which is not supported: use a token, a token file or a certificate, or run berth in the cluster", u.Name)
	case user.Provider != nil:
		return nil, fmt.Errorf("kubernetes: the user %q of the kubeconfig has an auth-provider, which is not supported: use a token, a token file or a certificate", u.Name)
	}

	if user.Certificate != "" || user.CertificateData != "" {
		pair := func() (*tls.Certificate, error) { return u.certificate() }
		if _, err := pair(); err != nil {
			return nil, err
		}
		// Read at each handshake: files may have been renewed.
		secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair() }
	}

	switch {
	case user.TokenFile != "":
		return bearer((&tokenFile{path: inDir(u.dir, user.TokenFile)}).read), nil
	case user.Token != "":
		return bearer(func() (string, error) { return user.Token, nil }), nil
	case user.Username != "":
		return func(r *http.Request) error {
			r.SetBasicAuth(user.Username, user.Password)
			return nil
		}, nil
	}
	return bearer(nil), nil
}

func (u namedUser) certificate() (*tls.Certificate, error) {
	certificate, err := content(u.dir, u.User.Certificate, u.User.CertificateData)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: the certificate of the user %q: %w", u.Name, err)
	}
	key, err := content(u.dir, u.User.Key, u.User.KeyData)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: the key of the user %q: %w", u.Name, err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: the certificate of the user %q and its key do not go together", u.Name)
	}
	return &pair, nil
}

// content gives what stands in the kubeconfig itself, in base64, or else in a file that it names; nothing if there is neither.
func content(dir, path, data string) ([]byte, error) {
	if data != "" {
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, errors.New("it is not base64")
		}
		return text, nil
	}
	if path == "" {
		return nil, nil
	}
	return os.ReadFile(inDir(dir, path))
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
