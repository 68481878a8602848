package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
)

// plain gives the request with its path as the router is to read it. A path can be escaped in more ways than one, and all of them mean
// the same. The router takes a path as it was sent if that is not the usual way, and would find neither the operation nor what it is about.
// Only a slash within a segment stays escaped, because it does not end the segment.
func plain(sent *http.Request) *http.Request {
	raw := sent.URL.RawPath
	if raw == "" {
		return sent
	}
	path := *sent.URL
	path.RawPath = ""
	if strings.Contains(strings.ToUpper(raw), "%2F") {
		segments := strings.Split(raw, "/")
		for i, segment := range segments {
			if text, err := url.PathUnescape(segment); err == nil {
				segments[i] = url.PathEscape(text)
			}
		}
		path.RawPath = strings.Join(segments, "/")
	}
	return withPath(sent, &path)
}

func withPath(sent *http.Request, path *url.URL) *http.Request {
	r := *sent
	r.URL = path
	return &r
}

// below reports whether the path goes on below that of its route, where there is nothing: the router leaves all that remains of a path to a
// parameter at the end of a route, whether that has the method or not. Routes of the OpenAI API have slashes, and so do ids of hosts. It is asked
// before the path is unescaped, since an escaped slash does not end a segment.
func below(r *request) bool {
	route, sent := r.Path(), r.Request().URL
	last := route[strings.LastIndexByte(route, '/')+1:]
	if !strings.HasPrefix(route, "/v2/") || !strings.HasPrefix(last, ":") || last == ":route" {
		return false
	}
	return strings.Count(cmp.Or(sent.RawPath, sent.Path), "/") > strings.Count(route, "/")
}

// strayed refuses a request for a resource that lacks the path or the method: the router goes on to the operations of the queue, as if the name of
// the resource were the id of an endpoint, which none has (rules errors.unknown-path, errors.method).
func (s *Services) strayed(r *request) error {
	if !strings.HasPrefix(r.Path(), "/v2/:endpointId/") || !compute.Reserved(r.Param("endpointId")) {
		return nil
	}
	sent := strings.Split(cmp.Or(r.Request().URL.RawPath, r.Request().URL.Path), "/")
	var methods []string
	for of := range s.routes {
		segments := strings.Split(of.path, "/")
		same := len(segments) == len(sent) && segments[2] == sent[2]
		for i := range segments {
			same = same && (segments[i] == sent[i] || strings.HasPrefix(segments[i], ":"))
		}
		if same {
			methods = append(methods, of.method)
		}
	}

	if methods == nil {
		return echo.ErrNotFound
	}
	slices.Sort(methods)
	r.Response().Header().Set(echo.HeaderAllow, strings.Join(append([]string{http.MethodOptions}, methods...), ", ")) // as the router names them
	return echo.ErrMethodNotAllowed
}

// unescape unescapes what the path names, if the router took it as it was sent: so the checks, the limits and the handlers see the same.
func (r *request) unescape() {
	sent := r.Request()
	if sent.URL.RawPath == "" {
		return
	}
	values := slices.Clone(r.ParamValues())
	for i, value := range values {
		if text, err := url.PathUnescape(value); err == nil {
			values[i] = text
		}
	}
	r.SetParamValues(values...)

	path := *sent.URL
	path.RawPath = ""
	r.SetRequest(withPath(sent, &path))
}
