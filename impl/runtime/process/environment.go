package process

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// inherited are the variables of berth's own environment that a process gets: what programs need to find their files, their
// libraries, the words of their user, and the network. What says how berth itself is set, or who it is to others (credentials, the
// addresses of an engine or of a receiver of traces), is not among them.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE",
	"VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// inheritedPrefixes begin the names of further ones.
var inheritedPrefixes = []string{"LC_", "PYTHON"}

// inherits reports whether a process gets the variable of berth's own environment.
func (h *Runtime) inherits(name string) bool {
	return slices.Contains(inherited, name) || slices.Contains(h.inherit, name) ||
		slices.ContainsFunc(inheritedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// environment is what is inherited, then the allocation's, then ours: the last of equal names wins.
func (h *Runtime) environment(a runtime.Allocation, ports []compute.PublishedPort) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !h.inherits(name)
	})
	env = append(env, a.Variables(address, ports)...)
	for name, port := range a.Listen {
		for _, p := range ports {
			if p.Private == port && p.Type == compute.HTTPPort {
				env = append(env, name+"="+strconv.Itoa(p.Public))
			}
		}
	}
	if a.Artifact != "" {
		env = append(env, runtime.EnvArtifact+"="+a.Artifact)
	}
	return append(env, EnvAllocation+"="+a.ID, EnvOwner+"="+h.owner)
}
