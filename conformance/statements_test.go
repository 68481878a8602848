package conformance_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/store/faulttest"
)

// errStatement is what a statement fails with.
var errStatement = errors.New("this statement fails")

// failing sends each request twice, if it can be: while the first is answered one statement of the store fails, of each operation the first
// one, then the second one and so on. What fails of it must leave nothing behind and be said: the second request is then answered as the
// only one would have been.
type failing struct {
	http.RoundTripper
	hosts map[string]bool // of the targets

	mu     sync.Mutex
	in     bool           // a request is on its way
	since  time.Time      // it is
	left   int            // statements before the one that fails
	failed bool           // it did
	turn   map[string]int // by the operation, how many statements are before the one that fails next
	first  map[string]int // answers to first requests that failed, by the operation
}

// held is from when on a request is one that is held until something happens: what is asked of the store then is not of its own.
const held = 100 * time.Millisecond

// frame is what begins and ends transactions. That it fails is a fault of the disk, of which there are other tests.
var frame = regexp.MustCompile(`^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA)\b`)

// statement is what faulttest asks.
func (f *failing) statement(query string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.in || frame.MatchString(query) || f.failed || time.Since(f.since) > held {
		return nil
	}
	if f.left--; f.left >= 0 {
		return nil
	}
	f.failed = true
	return errStatement
}

var ids = regexp.MustCompile(`/[^/]*[0-9][^/]*`)

// begin arms the fault for a request, if none is on its way.
func (f *failing) begin(operation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.in {
		return false
	}
	f.in, f.failed, f.left = true, false, f.turn[operation]
	f.since = time.Now()
	f.turn[operation]++
	return true
}

// end disarms it, and reports whether the statement failed.
func (f *failing) end(operation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.in = false
	if !f.failed {
		f.turn[operation] = 0 // it has no more of them
	}
	return f.failed
}

func (f *failing) RoundTrip(req *http.Request) (*http.Response, error) {
	operation := req.Method + " " + ids.ReplaceAllString(req.URL.Path, "/{id}")
	if !f.hosts[req.URL.Host] || (req.Body != nil && req.GetBody == nil) || strings.HasPrefix(req.URL.Path, "/_berth/") || !f.begin(operation) {
		return f.RoundTripper.RoundTrip(req)
	}

	res, err := f.RoundTripper.RoundTrip(req)
	if failed := f.end(operation); !failed || err != nil {
		return res, err
	}
	said, err := refused(res)
	if err != nil || !said {
		return res, err
	}

	f.mu.Lock()
	f.first[operation]++
	f.mu.Unlock()
	_ = res.Body.Close()
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return f.RoundTripper.RoundTrip(again)
}

// refused reports whether an answer says that something went wrong here: GraphQL does so in its body.
func refused(res *http.Response) (bool, error) {
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") || res.Request.URL.Path != "/graphql" {
		return res.StatusCode >= 500, nil
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte(`"code":"INTERNAL"`)), err
}

func TestRules_HoldWhereAStatementFailsUnderEveryRequest(t *testing.T) {
	documents, err := conformance.LoadDocuments("")
	require.NoError(t, err)
	target, stop, err := conformance.Own(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	rules, err := conformance.RulesOf("")
	require.NoError(t, err)

	f := &failing{RoundTripper: http.DefaultTransport, hosts: map[string]bool{}, turn: map[string]int{}, first: map[string]int{}}
	for _, address := range []string{target.URL, target.Guarded.URL} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		f.hosts[u.Host] = true
	}
	http.DefaultTransport = f
	t.Cleanup(func() { http.DefaultTransport = f.RoundTripper })
	faulttest.FailStatements(t, f.statement)

	requireHold(t, &conformance.Suite{Target: target, Documents: documents}, rules)
	for operation, n := range f.first {
		t.Log(n, operation)
	}
}
