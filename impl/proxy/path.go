package proxy

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// What begins the paths that lead into pods and to endpoints, for clients that know no names below the domain. They are read as they were
// sent, before anything is unescaped or tidied: so the rest of a path, whatever it is made of, reaches nothing but what it was sent to.
const (
	PodPaths      = "/proxy/pods/"      // then the id and the port
	EndpointPaths = "/proxy/endpoints/" // then the id
)

var (
	podInPath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^` + PodPaths + `([a-z0-9]{14})/([1-9][0-9]{0,4})(?:/|$)`)
	})
	endpointInPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + EndpointPaths + `([a-z0-9]{14})(?:/|$)`) })
)

// inPath serves what is asked for by its path, and reports whether it is.
func (p *Proxy) inPath(w http.ResponseWriter, r *http.Request) bool {
	sent := r.URL.EscapedPath()
	if parts := endpointInPath().FindStringSubmatch(sent); parts != nil {
		p.balance(w, r, compute.EndpointID(parts[1]), strings.TrimSuffix(parts[0], "/"))
		return true
	}

	parts := podInPath().FindStringSubmatch(sent)
	if parts == nil || !p.PodPaths {
		return false
	}
	port, err := strconv.Atoi(parts[2])
	if err != nil {
		return false
	}
	p.serve(w, r, compute.PodID(parts[1]), port, strings.TrimSuffix(parts[0], "/"))
	return true
}

// below gives the path without its prefix, as it is meant and as it was sent.
func below(u *url.URL, prefix string) (path, raw string) {
	raw = strings.TrimPrefix(u.EscapedPath(), prefix)
	if raw == "" {
		raw = "/"
	}
	path, err := url.PathUnescape(raw)
	if err != nil { // it was read before
		return raw, ""
	}
	return path, raw
}

// sandboxed is the policy of pages that are on the origin of the interfaces: it gives them an origin of their own, so that they can read
// nothing that the browser keeps for the interfaces.
const sandboxed = "sandbox allow-scripts allow-forms allow-popups allow-downloads"

// sandbox takes from an answer on the origin of the interfaces what would act on that origin.
func sandbox(h http.Header) {
	for _, name := range []string{
		"Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Service-Worker-Allowed", "Strict-Transport-Security", "Alt-Svc", "Content-Security-Policy-Report-Only",
		"NEL", "Report-To", "Reporting-Endpoints",
	} {
		h.Del(name)
	}
	h.Set("Content-Security-Policy", sandboxed)
}

// withoutHints keeps answers before the answer from a client that asked by path, since nobody could take from them what sandbox takes, and from one
// of HTTP/1.0, which would take the first for the answer (RFC 9110, 15.2).
func withoutHints(w http.ResponseWriter, r *http.Request, prefix string) http.ResponseWriter {
	if prefix == "" && r.ProtoAtLeast(1, 1) {
		return w
	}
	return unhinted{w}
}

type unhinted struct{ http.ResponseWriter }

// WriteHeader writes the status of the answer, and none before it but that of a connection that is taken over.
func (u unhinted) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		u.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap gives what is below, for net/http.
func (u unhinted) Unwrap() http.ResponseWriter { return u.ResponseWriter }
