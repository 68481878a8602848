package kubetest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// request is what is asked for.
type request struct {
	verb     string // as roles call it
	resource string
	name     string
	sub      string // log, exec
}

// read finds out what is asked for; ok is false for what there is not.
func read(r *http.Request) (q request, ok bool) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch prefix := strings.Join(path[:min(len(path), 3)], "/"); {
	case prefix == "api/v1/namespaces" && len(path) >= 5 && path[3] == Namespace:
		path = path[4:]
	case strings.HasPrefix(prefix, "api/v1/nodes"):
		path = path[2:]
	case prefix == "apis/storage.k8s.io/v1" && len(path) == 4:
		path = path[3:]
	case strings.HasPrefix(r.URL.Path, "/apis/resource.k8s.io/v1/namespaces/"+Namespace+"/resourceclaims"):
		path = path[5:]
	case prefix == "apis/resource.k8s.io/v1" && len(path) >= 4 && (path[3] == deviceSlices || path[3] == deviceClasses):
		path = path[3:]
	default:
		return q, false
	}

	path = append(path, "", "")
	q = request{resource: path[0], name: path[1], sub: path[2]}
	switch r.Method {
	case http.MethodGet:
		q.verb = "get"
		if q.name == "" {
			q.verb = "list"
			if w := r.URL.Query().Get("watch"); w == "1" || w == "true" {
				q.verb = "watch"
			}
		}
	case http.MethodPost:
		q.verb = "create"
	case http.MethodPatch:
		q.verb = "patch"
	case http.MethodDelete:
		q.verb = "delete"
	}
	ours := versionOf(q.resource) != "resource.k8s.io/v1" || strings.HasPrefix(r.URL.Path, "/apis/resource.k8s.io/v1/")
	return q, kinds[q.resource] != "" && q.verb != "" && ours
}

// ServeHTTP answers as an API server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.faults.pass(s, w, r) {
		s.answer(w, r)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/version":
		answer(w, http.StatusOK, object{"major": "1", "minor": "36", "gitVersion": Version})
		return
	case path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		s.review(w, r)
		return
	case strings.HasPrefix(path, "/apis/metrics.k8s.io/"):
		s.measure(w, r, path)
		return
	}

	q, ok := read(r)
	if !ok {
		http.NotFound(w, r) // as the real one, where it has no such API: without a Status
		return
	}
	if versionOf(q.resource) == "resource.k8s.io/v1" && s.missesDevices(w, r) {
		return
	}
	if s.faults.forbids(q) {
		refuse(http.StatusForbidden, "Forbidden", "%s is forbidden: User \"test\" cannot %s resource %q", q.resource, q.verb, q.resource).write(w)
		return
	}

	switch {
	case q.sub == "exec":
		s.exec(w, r, q.name)
	case q.sub == "log":
		s.logs(w, r, q.name)
	case q.verb == "watch":
		s.watch(w, r, q.resource)
	case q.verb == "list":
		s.list(w, r, q.resource)
	default:
		s.one(w, r, q)
	}
}

// one answers what is asked of one object.
func (s *Server) one(w http.ResponseWriter, r *http.Request, q request) {
	body := object{}
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			refuse(http.StatusBadRequest, "BadRequest", "the object provided is unrecognized: %v", err).write(w)
			return
		}
	}
	if q.verb == "patch" && r.Header.Get("Content-Type") != "application/merge-patch+json" {
		refuse(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the body of the request was in an unknown format").write(w)
		return
	}

	s.mu.Lock()
	var o object
	var bad *refusal
	code := http.StatusOK
	switch q.verb {
	case "get":
		if o = s.stored[q.resource][q.name]; o == nil {
			bad = notFound(q.resource, q.name)
		} else {
			o = clone(o)
		}
	case "create":
		code = http.StatusCreated
		o, bad = s.create(q.resource, body)
	case "patch":
		o, bad = s.patch(q.resource, q.name, body)
	case "delete":
		o, bad = s.remove(q.resource, q.name, body)
		if bad == nil && q.resource != pods && q.resource != claims && q.resource != deviceClaims {
			o = object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Success"}
		}
	}
	s.mu.Unlock()

	if bad != nil {
		bad.write(w)
		return
	}
	if text(o, "kind") != "Status" {
		o["kind"], o["apiVersion"] = kinds[q.resource], versionOf(q.resource)
	}
	answer(w, code, o)
}

// list answers a page of the objects of a resource.
func (s *Server) list(w http.ResponseWriter, r *http.Request, resource string) {
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	after, _ := base64.RawURLEncoding.DecodeString(query.Get("continue"))
	heads := strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")

	s.mu.Lock()
	defer s.mu.Unlock()
	page, next := []any{}, ""
	for _, name := range slices.Sorted(maps.Keys(s.stored[resource])) {
		o := s.stored[resource][name]
		if name <= string(after) || !selects(query.Get("labelSelector"), o) {
			continue
		}
		if limit > 0 && len(page) == limit {
			next = base64.RawURLEncoding.EncodeToString([]byte(nameOf(page[limit-1].(object))))
			break
		}
		o = clone(o)
		if heads {
			o = object{"metadata": o["metadata"]}
		}
		delete(o, "kind") // as in the items of a list
		delete(o, "apiVersion")
		page = append(page, o)
	}

	head := object{"resourceVersion": strconv.FormatUint(s.version, 10)}
	if next != "" {
		head["continue"] = next
	}
	kind, version := kinds[resource]+"List", versionOf(resource)
	if heads {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	answer(w, http.StatusOK, object{"kind": kind, "apiVersion": version, "metadata": head, "items": page})
}
