package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestPods_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	made := s.document("pods", "create", "--name", "first", "--image", "ubuntu:24.04", "--cpu", "cpu3g", "--vcpus", "2",
		"--env", "B=2", "--env", "A=x=y", "--port", "22/tcp", "--port", "8080/http", "--disk", "7", "--args", "a b", "--wait")
	id := made["id"].(string)
	require.Equal(t, "RUNNING", made["status"])
	require.Equal(t, map[string]any{"A": "x=y", "B": "2"}, made["env"])
	require.Equal(t, []any{"22/tcp", "8080/http"}, made["ports"])
	require.EqualValues(t, 7, made["disk"])
	require.Equal(t, "a b", made["args"])

	at := "http://" + id + "-8080.localhost:" + s.server.URL()[strings.LastIndex(s.server.URL(), ":")+1:]
	require.Equal(t, strings.TrimLeft(`
ID              NAME   STATUS   MACHINE               IMAGE         USD/H  CREATED               HTTP
POD___________  first  RUNNING  cpu3g, 2 vCPUs, 8 GB  ubuntu:24.04  0.08   TTTTTTTTTTTTTTTTTTTT  AT
`, "\n"), still(strings.Replace(s.done("pods", "list"), at, "AT", 1), "POD", id))
	require.Regexp(t, "(?m)^http +"+at+"$", s.done("pods", "get", id))
	require.Regexp(t, "(?m)^http +"+at+"$", s.done("pods", "why", id))
	require.Equal(t, id, s.document("pods", "list")["pods"].([]any)[0].(map[string]any)["id"])

	require.Equal(t, "EXITED", s.document("pods", "stop", id, "--wait")["status"])
	require.Equal(t, strings.TrimLeft(`
id            POD___________
name          second
status        EXITED
machine       cpu3g, 2 vCPUs, 8 GB
image         ubuntu:24.04
usd/h         0
created       TTTTTTTTTTTTTTTTTTTT
started       TTTTTTTTTTTTTTTTTTTT
actions       start, terminate
args          a b
env           -
disk          7 GB
mounts        -
ports         -
addresses     -
internal dns  -
cloud         SECURE
data center   EU-RO-1
template      -
registry      -
locked        false
`, "\n"), still(s.done("pods", "update", id, "--name", "second", "--locked=false", "--port", "", "--env", ""), "POD", id))

	s.document("pods", "update", id, "--locked")
	s.refuses(exitRefused, "berth: 409 Conflict: the pod is locked: it cannot be stopped or restarted\n"+
		"hint: berth pods get "+id+" shows its status and actions\n", "pods", "stop", id)
	s.document("pods", "update", id, "--locked=false")
	s.refuses(exitRefused, "berth: 409 Conflict: stop is not possible while the pod is EXITED\n"+
		"hint: berth pods get "+id+" shows its status and actions\n", "pods", "stop", id)
	require.Equal(t, "PROVISIONING", s.document("pods", "start", id)["status"])
	require.Contains(t, s.done("pods", "logs", id), "[system] pod is EXITED\n")
	require.Equal(t, "deleted "+id+"\n", s.done("pods", "delete", id))
	s.refuses(exitRefused, `berth: 404 Not Found: pod "`+id+`" does not exist`+"\nhint: berth pods list shows those that there are\n", "pods", "get", id)
}

func TestPods_ActionWaitsForWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	id := s.document("pods", "create", "--name", "a", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	s.document("pods", "stop", id)
	require.Equal(t, "RUNNING", s.document("pods", "start", id, "--wait")["status"])
	require.Equal(t, "RUNNING", s.document("pods", "update", id, "--image", "j", "--wait")["status"])
	require.Equal(t, map[string]any{"id": id, "deleted": true}, s.document("pods", "delete", id))
}

func TestBody_ComesFromAFileAndFlagsChangeIt(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	body := `{"name":"file","image":"i","cpu":{"id":"cpu3g","vcpuCount":2},"env":{"A":"1"}}`
	file := filepath.Join(t.TempDir(), "pod.json")
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	require.Equal(t, "file", s.document("pods", "create", "--file", file)["name"])

	changed := s.document("pods", "create", "--file", file, "--name", "flag", "--vcpus", "4")
	require.Equal(t, "flag", changed["name"])
	require.Equal(t, map[string]any{"id": "cpu3g", "vcpuCount": 4.0, "memory": 16.0}, changed["cpu"])
	r := s.feed(body, "pods", "create", "--file", "-", "--json")
	require.Zero(t, r.code, r.err)

	// as it is, so that the server sees what is wrong with it
	r = s.feed(`{"name":"a","name":"b","image":"i","what":1}`, "pods", "create", "--file", "-")
	require.Equal(t, exitRefused, r.code)
	require.Equal(t, "berth: 422 Unprocessable Entity: the request breaks its schema in 2 places\n  /name: appears twice\n  /what: is not a known member\n", r.err)

	r = s.feed("{\n\"name\": }", "pods", "create", "--file", "-")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, "berth: --file: the standard input: line 2: invalid character '}' looking for beginning of value\n", r.err)
	r = s.feed("[]", "pods", "create", "--file", "-", "--name", "x")
	require.Equal(t, "berth: -: it must be a JSON object for flags to change it\n", r.err)

	r = s.feed(`{"cpu":1}`, "pods", "create", "--file", "-", "--vcpus", "2")
	require.Equal(t, "berth: /cpu/vcpuCount: cpu is not an object in the file\n", r.err)
}

func TestBody_EveryViolationIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.refuses(exitRefused, strings.TrimLeft(`
berth: 422 Unprocessable Entity: the request breaks its schema in 4 places
  /disk: must be >= 1
  /gpu/count: must be >= 1
  /name: is required
  /image: is required
`, "\n"), "pods", "create", "--gpu", "NVIDIA L4", "--gpu-count", "0", "--disk", "0")

	s.refuses(exitUsage, "berth: --volume: \"v\" is not ID:PATH\n", "pods", "create", "--volume", "v")
	s.refuses(exitUsage, "berth: --persistent: \"x:/p\" is not GB:PATH\n", "pods", "create", "--persistent", "x:/p")
	s.refuses(exitUsage, "berth: --env: \"A\" is not NAME=VALUE\n", "pods", "create", "--env", "A")
	s.refuses(exitUsage, "berth: berth pods update: nothing is asked for\nhint: give flags, or a document with --file\n", "pods", "update", "x")
}

func TestPods_WaitEndsWithThePod(t *testing.T) {
	t.Parallel()
	// It never starts: what ends at once may be seen RUNNING.
	s := serving(t, app.Config{Runtime: "process", Endpoints: []app.Endpoint{{Name: "missing", Command: []string{"./no/such/program"}}}})
	r := s.run("pods", "create", "--name", "a", "--image", "missing", "--cpu", "cpu3g", "--vcpus", "2", "--wait")
	require.Equal(t, exitEnded, r.code)
	require.Contains(t, r.out, "status        ERROR\n")
	require.Regexp(t, `^berth: pod [a-z0-9]{14} is ERROR\nhint: its log may say why: berth pods logs [a-z0-9]{14}\n$`, r.err)
}

// TestPods_WaitThatFailsSaysWhatWasMade: else nobody knows what it costs.
func TestPods_WaitThatFailsSaysWhatWasMade(t *testing.T) {
	t.Parallel()
	const pod = `{"id":"k3v9x2m1q8w7rt","name":"a","status":"PROVISIONING"}`
	ctx, interrupt := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		ctx  context.Context
		look func(http.ResponseWriter)
		code int
	}{
		"refused":     {t.Context(), func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, exitRefused},
		"interrupted": {ctx, func(w http.ResponseWriter) { fmt.Fprint(w, pod); interrupt() }, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					fmt.Fprint(w, pod)
					return
				}
				c.look(w)
			}))
			defer s.Close()
			r := call(c.ctx, "", "pods", "create", "--name", "a", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait", "--quiet", "--server", s.URL)
			require.Equal(t, c.code, r.code, r.err)
			require.Equal(t, "k3v9x2m1q8w7rt\n", r.out)
		})
	}
}

func TestPods_WaitEndsWithItsTime(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	r := s.run("pods", "create", "--name", "a", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait", "--timeout", "300ms")
	require.Equal(t, exitTimeout, r.code)
	require.Regexp(t, `^berth: pod [a-z0-9]{14} is (PROVISIONING|STARTING) after 300ms\nhint: .*\n$`, r.err)
}
