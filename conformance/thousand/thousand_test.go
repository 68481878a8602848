// Package thousand_test runs very many tests, each with a server of its own: a seed, a fault and the journal, as tests of users have them.
// It says how long a test takes, and fails if anything is left of the servers.
package thousand_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// Of the seed.
const (
	pod      = "podofeachtest1"
	endpoint = "endpofeachtest"
)

// mostKept is how many bytes the heap may have more after the tests than before them. One server that is not let go has 0.3 MB and more.
const mostKept = 4 << 20

// patience is how long what ends by itself may take.
const patience = 20 * time.Second

func TestServers_OneForEachTestLeaveNothing(t *testing.T) {
	tests, err := strconv.Atoi(cmp.Or(os.Getenv("BERTH_TESTS"), "20"))
	require.NoError(t, err)
	seed, err := filepath.Abs("seed.yaml")
	require.NoError(t, err)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)

	t.Run("warm", func(t *testing.T) { useServer(t, seed, -1) }) // what a process makes once is not left of a server
	var before, after held                                       // each in a goroutine of Eventually, which counts too
	require.Eventually(t, func() bool { before = holding(); return true }, patience, time.Millisecond)

	var taken times
	t.Run("all", func(t *testing.T) {
		for n := range tests {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				useServer(t, seed, n)
				taken.add(time.Since(start))
			})
		}
	})

	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left, "files are left")
	nothingLeft := func() bool {
		after = holding()
		return after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.heap <= before.heap+mostKept
	}
	if !assert.Eventually(t, nothingLeft, patience, 10*time.Millisecond) { // what ends by itself may take a moment
		stacks := make([]byte, 1<<20)
		t.Fatalf("before the tests: %+v; after them: %+v\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}

	require.Empty(t, children(t), "processes are left")
	taken.report(t)
	t.Logf("heap %.1f MB before, %.1f MB after; %d goroutines before, %d after", float64(before.heap)/1e6, float64(after.heap)/1e6,
		before.goroutines, after.goroutines)
}

// useServer is a test: it starts a server with a seed, has a fault met, runs what a client does, holds the journal against it, and ends the
// server.
func useServer(t *testing.T, seed string, n int) {
	s, err := berth.Start(t.Context(), berth.Options{Seed: seed})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()

	_, err = s.Faults().Add(t.Context(), berth.Fault{Operation: "getPod", Status: new(int64(503)), Times: new(int64(1))})
	require.NoError(t, err)
	status, _ := send(t, s, http.MethodGet, s.URL()+"/v2/pods/"+pod, "")
	require.Equal(t, 503, status)
	status, answer := send(t, s, http.MethodGet, s.URL()+"/v2/pods/"+pod, "")
	require.Equal(t, 200, status)
	require.Equal(t, "trainer", answer["name"])

	name := fmt.Sprintf("of-test-%d", n)
	status, _ = send(t, s, http.MethodPost, s.URL()+"/v2/pods", fmt.Sprintf(`{"name":%q,"image":"busybox","cpu":{"id":"cpu3g","vcpuCount":2}}`, name))
	require.Equal(t, 201, status)
	status, answer = send(t, s, http.MethodGet, s.URL()+"/v2/pods", "")
	require.Equal(t, 200, status)
	require.Len(t, answer["pods"], 2, "a server has pods of another test")
	status, answer = send(t, s, http.MethodPost, s.QueueURL()+"/v2/"+endpoint+"/run", fmt.Sprintf(`{"input":{"n":%d}}`, n))
	require.Equal(t, 200, status)
	require.Equal(t, "IN_QUEUE", answer["status"])

	exactly := func(n int64) *berth.ExpectedTimes { return &berth.ExpectedTimes{Exactly: &n} }
	berthtest.Verify(t, s,
		berth.Expectation{Operation: new("getPod"), Times: exactly(2)},
		berth.Expectation{Operation: new("createPod"), Times: exactly(1), Body: []berth.BodyExpectation{{Pointer: "/name", Equals: json.RawMessage(strconv.Quote(name))}}},
		berth.Expectation{Operation: new("run"), Times: exactly(1), Body: []berth.BodyExpectation{{Pointer: "/input/n", Equals: json.RawMessage(strconv.Itoa(n))}}},
	)
}

// send sends a request and reads the answer, which is an object.
func send(t *testing.T, s *berth.Server, method, url, body string) (status int, answer map[string]any) {
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Key())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}

	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &answer), "%s", text)
	return res.StatusCode, answer
}

// held is what a process has.
type held struct {
	goroutines, descriptors int
	heap                    uint64 // bytes in use
}

// holding gives what this process has, once connections that nobody uses are closed. Sockets that listen are among the descriptors, which are
// counted where there is /proc.
func holding() (h held) {
	http.DefaultClient.CloseIdleConnections()
	debug.FreeOSMemory()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	h.goroutines, h.heap = runtime.NumGoroutine(), memory.HeapAlloc

	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.descriptors = len(open)
	}
	return h
}

// children gives the processes that this one started and that are there still, where there is /proc.
func children(t *testing.T) (ids []string) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if os.IsNotExist(err) { // the thread has ended
			continue
		}
		require.NoError(t, err)
		ids = append(ids, strings.Fields(string(text))...)
	}
	return ids
}

// times are how long tests took.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *times) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// report says how long a test took, and writes the milliseconds of each to the file that BERTH_TEST_TIMES names.
func (l *times) report(t *testing.T) {
	var lines strings.Builder
	for _, d := range l.all {
		fmt.Fprintf(&lines, "%.3f\n", float64(d.Microseconds())/1000)
	}
	if file := os.Getenv("BERTH_TEST_TIMES"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	}

	sorted := slices.Sorted(slices.Values(l.all))
	at := func(share float64) time.Duration {
		return sorted[int(share*float64(len(sorted)-1))].Round(10 * time.Microsecond)
	}
	t.Logf("%d tests with a server each: median %v, p99 %v", len(sorted), at(0.5), at(0.99))
}
