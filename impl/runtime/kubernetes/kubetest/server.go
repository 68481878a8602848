// Package kubetest is a double of a Kubernetes cluster for tests: an API server over HTTP with as much of the API as berth uses, in the forms
// and with the rules of the real one; a scheduler that counts what nodes have and allocates devices; and kubelets that run the steps of package play, in this
// process and on disks in memory. Its knobs do what goes wrong in clusters. The real one is another program: what holds here is
// to be held there, too.
package kubetest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// Namespace is the one that Kubeconfig names.
const Namespace = "berth"

// Version is what the server says that it is.
const Version = "v1.36.3"

// Server is a cluster.
type Server struct {
	http  *httptest.Server
	clock compute.Clock

	mu      sync.Mutex
	version uint64 // of the last change
	stored  map[string]map[string]object
	history []change
	oldest  uint64        // changes up to this version are forgotten
	changed chan struct{} // closed at each change
	ended   bool

	watches int // that are open
	cuts    chan struct{}
	faults  faults
	images  images
	lb      string // address of load balancers; empty: none comes
	silent  map[string]bool
	running map[string]*process // containers, by the uid of their Pod
	disks   map[string]*disk    // of volume claims, by their uid
	ports   map[string][]func() // closes what a Service listens on, by its uid
	metrics bool
	hangs   bool   // the metrics API gives no answer
	lacks   string // what of claims for devices there is not: the group or the version; empty: they are there

	commands [][]string    // that were asked for
	lacking  string        // a program that images lack
	listens  int           // ports of nodes that were given away
	idle     bool          // containers run nothing
	wake     chan struct{} // for the scheduler
	work     sync.WaitGroup
	done     chan struct{}
}

// New starts a cluster without nodes, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		clock: compute.SystemClock{}, version: 100, stored: map[string]map[string]object{}, changed: make(chan struct{}), cuts: make(chan struct{}),
		images: newImages(), silent: map[string]bool{}, running: map[string]*process{}, disks: map[string]*disk{}, ports: map[string][]func(){},
		metrics: true, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.faults.forbidden = map[string]bool{}
	for resource := range kinds {
		s.stored[resource] = map[string]object{}
	}
	s.stored[classes]["standard"] = object{
		"metadata":    object{"name": "standard", "uid": newUID(), "resourceVersion": "1", "annotations": object{"storageclass.kubernetes.io/is-default-class": "true"}},
		"provisioner": "example.com/disks",
	}

	s.http = httptest.NewServer(s)
	s.work.Go(s.schedule)
	t.Cleanup(s.close)
	return s
}

func (s *Server) close() {
	s.mu.Lock()
	s.ended = true
	for _, p := range s.running {
		p.signal(true)
	}
	for _, all := range s.ports {
		for _, end := range all {
			end()
		}
	}
	s.mu.Unlock()
	close(s.done)
	s.http.CloseClientConnections()
	s.http.Close()
	s.work.Wait()
}

// URL is the server's.
func (s *Server) URL() string { return s.http.URL }

// Kubeconfig writes a kubeconfig for the server and gives its path.
func (s *Server) Kubeconfig(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test, namespace: %s}}]
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: test, user: {token: t0ken}}]
`, Namespace, s.URL())
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// now is the time as the API writes it, in whole seconds.
func (s *Server) now() string { return s.clock.Wall().Format(time.RFC3339) }

// pause waits in the cluster; false: it has ended.
func (s *Server) pause(d time.Duration) bool {
	after, stop := s.clock.After(d)
	defer stop()
	select {
	case <-after:
		return true
	case <-s.done:
		return false
	}
}

// answer writes a body.
func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// refusal is an answer that is an error.
type refusal struct {
	code    int
	reason  string
	message string
	name    string // of the object that it is about
}

func refuse(code int, reason, format string, args ...any) *refusal {
	return &refusal{code: code, reason: reason, message: fmt.Sprintf(format, args...)}
}

func (r *refusal) status() object {
	details := object{}
	if r.name != "" {
		details["name"] = r.name
	}
	return object{
		"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Failure", "message": r.message, "reason": r.reason, "code": r.code, "details": details,
	}
}

func (r *refusal) write(w http.ResponseWriter) { answer(w, r.code, r.status()) }

func notFound(resource, name string) *refusal {
	r := refuse(http.StatusNotFound, "NotFound", "%s %q not found", resource, name)
	r.name = name
	return r
}
