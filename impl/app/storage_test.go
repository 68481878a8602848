package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/store/faulttest"
)

// wholeFaults reports whether every call is to fail, and not one of so many: make faults.
var wholeFaults = os.Getenv("BERTH_FAULTS") == "all"

// answer is what a request got.
type answer struct {
	status     int
	retryAfter string
	json       map[string]any
}

// ask sends a request. Unlike call it may be used in any goroutine.
func ask(t *testing.T, s *app.Server, method, path, body string) answer {
	return askAs(t, s, s.FirstKey(), method, path, body)
}

func askAs(t *testing.T, s *app.Server, key, method, path, body string) (a answer) {
	req, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body)) //nolint:noctx // as long as it takes
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return a
	}

	defer func() { _ = res.Body.Close() }()
	_ = json.NewDecoder(res.Body).Decode(&a.json)
	_, _ = io.Copy(io.Discard, res.Body)
	a.status, a.retryAfter = res.StatusCode, res.Header.Get("Retry-After")
	return a
}

func requireUnstored(t *testing.T, a answer, title string) {
	t.Helper()
	require.Equal(t, 503, a.status, a.json)
	seconds, err := strconv.Atoi(a.retryAfter)
	require.NoError(t, err)
	require.Positive(t, seconds)
	if errs, ok := a.json["errors"].([]any); ok { // GraphQL
		require.Equal(t, title, errs[0].(map[string]any)["extensions"].(map[string]any)["title"])
		return
	}
	require.Equal(t, title, a.json["title"])
	require.NotEmpty(t, a.json["detail"])
}

// read gives what is there.
func read(t *testing.T, s *app.Server, path string) map[string]any {
	t.Helper()
	a := ask(t, s, "GET", path, "")
	require.Equal(t, 200, a.status, a.json)
	return a.json
}

const newPod = `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`

// requireReady waits until the server is ready, or is not.
func requireReady(t *testing.T, s *app.Server, status int) {
	t.Helper()
	require.Eventually(t, func() bool { return ask(t, s, "GET", "/readyz", "").status == status }, time.Minute, 10*time.Millisecond)
}

func TestStorage_FailingDiskIsReportedAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title string
		fails func(faulttest.Call) faulttest.Fault
	}{
		{"Storage Full", faulttest.Always(faulttest.Full)},
		{"Storage Failing", faulttest.Always(faulttest.Failing, faulttest.Sync)},
		{"Storage Failing", faulttest.Always(faulttest.Failing, faulttest.Write)},
		{"Storage Locked", faulttest.Always(faulttest.Locked, faulttest.ShmLock)},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			var log lines
			dir := t.TempDir()
			disk := faulttest.New(t, dir)
			s := start(t, app.Config{Data: filepath.Join(dir, "data"), Endpoints: []app.Endpoint{{Name: "one"}}, Log: slog.New(slog.NewTextHandler(&log, nil))})

			queue := "/v2/" + string(s.Endpoints()["one"])
			run := func() string {
				a := ask(t, s, "POST", queue+"/run", `{"input":{}}`)
				require.Equal(t, 200, a.status)
				return a.json["id"].(string)
			}

			take := func() answer { return ask(t, s, "GET", queue+"/job-take/w?job_in_progress=1", "") }
			done := func(id string) answer {
				return ask(t, s, "POST", queue+"/job-done/w/"+id+"?isStream=false", `{"output":1}`)
			}
			status := func(id string) any { return read(t, s, queue+"/status/"+id)["status"] }
			pod := ask(t, s, "POST", "/v2/pods", newPod).json["id"].(string)
			first, second := run(), run()
			require.Equal(t, first, take().json["id"])

			requireReady(t, s, 200)

			disk.Fail(c.fails)
			requireUnstored(t, ask(t, s, "POST", "/v2/pods", newPod), c.title)
			requireUnstored(t, ask(t, s, "PATCH", "/v2/pods/"+pod, `{"name":"b"}`), c.title)
			requireUnstored(t, ask(t, s, "POST", queue+"/run", `{"input":{}}`), c.title)
			requireUnstored(t, ask(t, s, "POST", queue+"/runsync", `{"input":{}}`), c.title)
			requireUnstored(t, ask(t, s, "POST", queue+"/cancel/"+second, ""), c.title)
			requireUnstored(t, ask(t, s, "POST", queue+"/purge-queue", ""), c.title)
			requireUnstored(t, take(), c.title)
			requireUnstored(t, done(first), c.title)
			requireUnstored(t, ask(t, s, "POST", queue+"/job-stream/w/"+first, `{"output":1}`), c.title)
			requireUnstored(t, ask(t, s, "POST", "/graphql", `{"query":"mutation{podTerminate(input:{podId:\"`+pod+`\"})}"}`), c.title)

			ready := ask(t, s, "GET", "/readyz", "")
			require.Equal(t, 503, ready.status)
			require.NotEmpty(t, ready.retryAfter)
			require.Contains(t, ready.json["detail"], "not ready: ")

			require.Equal(t, 200, ask(t, s, "GET", "/healthz", "").status, "a restart would not help")
			require.Equal(t, pod, read(t, s, "/v2/pods/"+pod)["id"], "reads go on")
			require.Len(t, read(t, s, "/v2/pods")["pods"], 1)
			require.Equal(t, 200, ask(t, s, "POST", "/graphql", `{"query":"{myself{id pods{id}}}"}`).status)
			require.Equal(t, "IN_PROGRESS", status(first))
			require.Equal(t, "IN_QUEUE", status(second))

			disk.Fail(nil)
			requireReady(t, s, 200) // though nobody writes
			require.Equal(t, "a", read(t, s, "/v2/pods/"+pod)["name"])
			require.Len(t, read(t, s, "/v2/pods")["pods"], 1)
			require.Equal(t, 200, done(first).status)
			require.Equal(t, "COMPLETED", status(first))
			require.Equal(t, second, take().json["id"])
			require.Equal(t, 200, done(second).status)

			jobs := read(t, s, queue+"/health")["jobs"]
			require.Equal(t, map[string]any{"completed": 2.0, "failed": 0.0, "inProgress": 0.0, "inQueue": 0.0, "retried": 0.0}, jobs, "nothing that was refused is there, nor anything twice")
			require.NoError(t, s.Close())

			text := log.text.String()
			require.Equal(t, 1, strings.Count(text, "the storage takes no writes"), text)
			require.Equal(t, 1, strings.Count(text, "the storage takes writes again"), text)
			require.NotContains(t, text, "request failed", "it is logged once")
		})
	}
}

// TestStorage_JobOfAFailedCommitDoesNotEnd: its client was answered that it is not stored.
func TestStorage_JobOfAFailedCommitDoesNotEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := faulttest.New(t, dir)
	s := start(t, app.Config{Data: filepath.Join(dir, "data"), Endpoints: []app.Endpoint{{Name: "one"}}})
	queue := "/v2/" + string(s.Endpoints()["one"])
	taken := make(chan answer, 1)
	go func() { taken <- ask(t, s, "GET", queue+"/job-take/w?job_in_progress=0", "") }()
	require.Eventually(t, func() bool {
		return ask(t, s, "GET", queue+"/health", "").json["workers"].(map[string]any)["ready"] == 1.0
	}, time.Minute, time.Millisecond)

	disk.Fail(faulttest.Always(faulttest.Full))
	requireUnstored(t, ask(t, s, "POST", queue+"/runsync", `{"input":{}}`), "Storage Full")
	a := <-taken
	disk.Fail(nil)
	requireReady(t, s, 200)

	if a.status == 200 { // the worker has it, and reports it
		id := a.json["id"].(string)
		require.Equal(t, 200, ask(t, s, "POST", queue+"/job-done/w/"+id+"?isStream=false", `{"output":1}`).status)
		require.Equal(t, 404, ask(t, s, "GET", queue+"/status/"+id, "").status)
	}

	jobs := ask(t, s, "GET", queue+"/health", "").json["jobs"]
	require.Equal(t, map[string]any{"completed": 0.0, "failed": 0.0, "inProgress": 0.0, "inQueue": 0.0, "retried": 0.0}, jobs)
	require.NoError(t, s.Close())
}

// small mounts a file system of so many bytes; it skips the test where that cannot be done.
func small(t *testing.T, bytes int) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("SKIPPED: a small file system needs Linux and root")
	}
	dir := t.TempDir()
	if text, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(bytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: a small file system cannot be mounted: %v: %s", err, text)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", dir).Run()) }) //nolint:noctx // the test's has ended
	return dir
}

func TestStorage_FullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	dir := small(t, 8<<20)
	s := start(t, app.Config{Data: filepath.Join(dir, "data"), Endpoints: []app.Endpoint{{Name: "one"}}})
	queue := "/v2/" + string(s.Endpoints()["one"])
	body := `{"input":{"pad":"` + strings.Repeat("x", 100_000) + `"}}`

	var acked sync.Map
	fill := func() (n int) {
		for {
			a := ask(t, s, "POST", queue+"/run", body)
			if a.status != 200 {
				requireUnstored(t, a, "Storage Full")
				return n
			}
			acked.Store(a.json["id"], true)
			n++
		}
	}

	filler := filepath.Join(dir, "filler")
	require.NoError(t, os.WriteFile(filler, bytes.Repeat([]byte("x"), 2<<20), 0o600))
	require.Positive(t, fill())
	requireReady(t, s, 503)
	acked.Range(func(id, _ any) bool {
		require.Equal(t, "IN_QUEUE", ask(t, s, "GET", queue+"/status/"+id.(string), "").json["status"])
		return true
	})

	require.NoError(t, os.Remove(filler))
	requireReady(t, s, 200)
	require.Positive(t, fill())
	require.Equal(t, 503, ask(t, s, "GET", "/readyz", "").status)

	_ = s.Close() // it cannot save what it counted

	again := start(t, app.Config{Data: filepath.Join(dir, "data"), Endpoints: []app.Endpoint{{Name: "one"}}})
	n := 0
	acked.Range(func(_, _ any) bool { n++; return true })
	_, health := call(t, "GET", again.URL()+queue+"/health", s.FirstKey(), "")
	require.EqualValues(t, n, health["jobs"].(map[string]any)["inQueue"])
	_ = again.Close()
}

// TestStorage_PowerLossWhileMadeLosesNothing: of the first start the database, the secret key and the names
// of both; then a key and a credential that the secret key encrypts.
func TestStorage_PowerLossWhileMadeLosesNothing(t *testing.T) {
	t.Parallel()
	dir, images := t.TempDir(), t.TempDir()
	disk := faulttest.New(t, dir)
	type image struct {
		dir, what     string
		key, registry string
	}
	var all []image
	var mu sync.Mutex
	var key, registry string // acknowledged

	rng := rand.New(rand.NewPCG(1, 2))
	take := func(c faulttest.Call, loss faulttest.Loss) {
		mu.Lock()
		defer mu.Unlock()
		i := image{filepath.Join(images, strconv.Itoa(len(all))), strconv.Itoa(c.N) + ": " + string(c.Kind) + " " + c.Path, key, registry}
		require.NoError(t, os.Mkdir(i.dir, 0o700))
		disk.Loses(t, i.dir, loss, rng)
		all = append(all, i)
	}

	disk.Watch(func(c faulttest.Call) {
		if c.Kind.Changes() && (c.Kind != faulttest.Write || c.N%5 == 0 || wholeFaults) {
			take(c, faulttest.Everything)
			take(c, faulttest.Some)
		}
	})

	s := start(t, app.Config{Data: filepath.Join(dir, "a", "data")})
	mu.Lock()
	key = s.FirstKey()
	mu.Unlock()
	take(faulttest.Call{Kind: "the first request"}, faulttest.Everything)
	a := ask(t, s, "POST", "/v2/registries", `{"name":"n","username":"u","password":"p"}`)
	require.Equal(t, 201, a.status)

	mu.Lock()
	registry = a.json["id"].(string)
	mu.Unlock()
	take(faulttest.Call{Kind: "the end"}, faulttest.Everything)
	disk.Watch(nil)
	require.NoError(t, s.Close())

	t.Log(len(all), "images")
	for _, i := range all {
		again, err := app.Start(t.Context(), app.Config{Data: filepath.Join(i.dir, "a", "data"), Listen: "127.0.0.1:0", Ephemeral: true})
		require.NoError(t, err, i.what)
		if i.key != "" {
			status, _ := call(t, "GET", again.URL()+"/v2/registries", i.key, "")
			require.Equal(t, 200, status, "%s: the key is lost", i.what)
		}
		if i.registry != "" {
			status, _ := call(t, "GET", again.URL()+"/v2/registries/"+i.registry, i.key, "")
			require.Equal(t, 200, status, "%s: the credential is lost", i.what)
		}
		require.NoError(t, again.Close())
		require.NoError(t, os.RemoveAll(i.dir))
	}
}

// TestStorage_StartFollowsOneThatFailedOfItsDisk fails the calls of the making of a data directory, once and for good.
func TestStorage_StartFollowsOneThatFailedOfItsDisk(t *testing.T) {
	t.Parallel()
	step, failures := 5, 0
	if wholeFaults {
		step = 1
	}

	for name, failing := range map[string]func(int, faulttest.Fault) func(faulttest.Call) faulttest.Fault{"once": faulttest.Nth, "for good": faulttest.From} {
		for n, more := 0, true; more; n += step {
			dir := t.TempDir()
			disk := faulttest.New(t, dir)
			c := app.Config{Data: filepath.Join(dir, "a", "data"), Listen: "127.0.0.1:0"}
			disk.Fail(failing(n, faulttest.Failing))

			s, err := app.Start(t.Context(), c)
			if err == nil {
				_ = s.Close() // it may fail of its disk
			} else {
				failures++
			}

			calls, _ := disk.Calls()
			more = n < calls
			disk.Fail(nil)
			s, err = app.Start(t.Context(), c)
			require.NoError(t, err, "after call %d failed %s", n, name)
			require.NoError(t, s.Close())
		}
	}

	t.Log(failures, "starts failed")
	require.Positive(t, failures)
}

func TestStorage_DamagedLogIsReportedAtTheStart(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	s := start(t, app.Config{Data: dir})
	for range 3 {
		require.Equal(t, 201, ask(t, s, "POST", "/v2/pods", newPod).status)
	}

	for _, name := range []string{"berth.db", "berth.db-wal", "secret.key"} { // as a crash leaves them
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if name == "berth.db-wal" {
			content[len(content)/2]++
		}
		require.NoError(t, os.WriteFile(filepath.Join(copied, name), content, 0o600))
	}
	_, err := app.OpenKeys(t.Context(), copied, "")
	require.ErrorContains(t, err, "the log of the database is damaged", "before a server has said so, nobody opens it")
	require.NoError(t, s.Close())

	var log lines
	again := start(t, app.Config{Data: copied, Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, again.Close())
	keys, err := app.OpenKeys(t.Context(), copied, "")
	require.NoError(t, err)
	require.NoError(t, keys.Close())
	require.Regexp(t, `writes that were acknowledged are lost.*the log of the database is damaged: \d+ commits \(\d+ pages\) could be read, and \d+ after them`, log.text.String())
}
