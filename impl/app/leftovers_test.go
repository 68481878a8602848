package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// life leads one of everything through its life over a server whose clock it sets.
type life struct {
	*testing.T
	s    *app.Server
	key  string
	base string // of the endpoint whose workers the test plays
}

// ask makes a request that must have the status, and gives the answer.
func (l *life) ask(want int, method, path, body string) map[string]any {
	l.Helper()
	return l.askAs(l.key, want, method, path, body)
}

func (l *life) askAs(key string, want int, method, path, body string) map[string]any {
	l.Helper()
	status, answer := call(l.T, method, l.s.URL()+path, key, body)
	require.Equal(l, want, status, "%s %s: %v", method, path, answer)
	return answer
}

// make creates something and gives its path.
func (l *life) make(path, body string) string {
	l.Helper()
	return path + "/" + l.ask(201, "POST", path, body)["id"].(string)
}

func (l *life) advance(d time.Duration) {
	l.Helper()
	require.NoError(l, l.s.Advance(context.WithoutCancel(l.Context()), d))
}

// take has a worker take the next job, which must be that one.
func (l *life) take(worker, id string) {
	l.Helper()
	require.Equal(l, id, l.ask(200, "GET", l.base+"/job-take/"+worker, "")["id"])
}

func (l *life) run(body string) string {
	l.Helper()
	return l.ask(200, "POST", l.base+"/run", body)["id"].(string)
}

func (l *life) pods() {
	l.ask(204, "DELETE", l.make("/v2/global-volumes", `{"name":"g"}`), "")
	volume := l.make("/v2/network-volumes", `{"name":"v","size":10,"dataCenter":"EU-RO-1"}`)
	registry := l.make("/v2/registries", `{"name":"r","username":"u","password":"p"}`)
	mounted := strings.TrimPrefix(volume, "/v2/network-volumes/")
	for _, body := range []string{
		`"cpu":{"id":"cpu3g","vcpuCount":2},"mounts":{"network":[{"volumeId":"` + mounted + `","path":"/d"}]}`,
		`"gpu":{"id":"NVIDIA L4"},"globalNetworking":true,"mounts":{"persistent":{"size":10,"path":"/p"}}`,
		`"gpu":{"id":"NVIDIA L4"},"registry":"` + strings.TrimPrefix(registry, "/v2/registries/") + `"`,
		`"cpu":{"id":"cpu3g","vcpuCount":2}`,
	} {
		pod := l.make("/v2/pods", `{"name":"p","image":"i","args":"secret","env":{"BERTH_SIM_MARK":"secret"},"ports":["80/http"],`+body+`}`)
		l.advance(10 * time.Second)
		require.Equal(l, "RUNNING", l.ask(200, "GET", pod, "")["status"])
		l.ask(200, "PATCH", pod, `{"env":{"BERTH_SIM_EXIT_AFTER":"1m"}}`)
		l.advance(2 * time.Minute)
		l.ask(200, "POST", pod+"/action", `{"action":"start"}`)
		l.advance(10 * time.Second)
		l.ask(204, "DELETE", pod, "")
		l.advance(time.Second)
	}

	l.ask(204, "DELETE", volume, "")
	l.ask(204, "DELETE", registry, "")
	cluster := l.make("/v2/clusters", `{"name":"c","type":"TRAINING","image":"i","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2}}`)
	l.advance(10 * time.Second)
	l.ask(204, "DELETE", cluster, "")
}

func (l *life) account() {
	l.ask(204, "DELETE", l.make("/v2/registries/delegations", `{"resource":"arn:aws:ecr:eu-west-1:123456789012:repository/a"}`), "")
	l.ask(204, "DELETE", l.make("/v2/templates", `{"name":"t","image":"i"}`), "")
	l.ask(204, "DELETE", l.make("/v2/account/secrets", `{"name":"n","value":"secret"}`), "")
	l.ask(200, "PUT", "/v2/account/ssh-keys", `{"keys":["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Y1nCxWjnQKjQh4pDzzP4QEoE0iEMnRgeW1TzKf0Fb x"]}`)
	l.ask(200, "PUT", "/v2/account/ssh-keys", `{"keys":[]}`)
	for _, more := range []string{`,"expiresIn":3600000`, ``} {
		made := l.askAs(l.s.ControlsKey(), 201, "POST", "/_berth/keys", `{"name":"k","user":"stranger","scopes":["all"]`+more+`}`)
		l.askAs(made["key"].(string), 200, "GET", "/v2/pods", "")
		if more == "" {
			l.askAs(l.s.ControlsKey(), 204, "DELETE", "/_berth/keys/"+made["id"].(string), "")
		}
	}
}

func (l *life) endpoints() {
	e := l.make("/v2/serverless", `{"name":"e","type":"QUEUE","image":"i","env":{"A":"secret"},"cpu":[{"id":"cpu3c","vcpuCount":2}],"workers":{"min":2},
		"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
	l.advance(10 * time.Second)
	l.ask(200, "PATCH", e, `{"image":"j"}`)
	id := strings.TrimPrefix(e, "/v2/serverless/")
	l.ask(200, "POST", "/v2/"+id+"/run", `{"input":{}}`)
	l.ask(200, "GET", "/v2/"+id+"/ping/somebody", "")
	l.advance(time.Minute)
	l.ask(204, "DELETE", e, "")

	played := l.make("/v2/serverless", `{"name":"s","type":"QUEUE","image":"i","cpu":[{"id":"cpu3c","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
	id = strings.TrimPrefix(played, "/v2/serverless/")
	l.askAs(l.s.ControlsKey(), 204, "PUT", "/_berth/endpoints/"+id+"/script", `{"answers":[{"delay":{"fixed":60000},"chunks":[{"value":1}],"times":1},
		{"delay":{"fixed":60000},"crash":{},"times":1},{"delay":{"fixed":3600000},"output":1}]}`)
	for range 4 {
		l.ask(200, "POST", "/v2/"+id+"/run", `{"input":{}}`)
	}
	l.advance(5 * time.Minute) // one has ended, one has crashed, and the others are being worked on
	l.ask(204, "DELETE", played, "")

	broken := l.make("/v2/serverless", `{"name":"b","type":"LOAD_BALANCER","image":"i","env":{"BERTH_SIM_EXIT_AFTER":"1s","BERTH_SIM_EXIT_CODE":"1"},
		"cpu":[{"id":"cpu3c","vcpuCount":2}],"workers":{"min":1},"scaling":{"type":"REQUEST_COUNT","requestCount":1}}`)
	l.advance(10 * time.Second) // its workers end by themselves, and it waits for longer and longer
	l.ask(204, "DELETE", broken, "")
}

// jobs leads a job to each of its ends, and loses some on the way.
func (l *life) jobs(hook, deadHook string) {
	done := l.run(`{"input":{},"webhook":"` + hook + `"}`)
	l.take("w", done)
	for range 3 {
		l.ask(200, "POST", l.base+"/job-stream/w/"+done+"?isStream=true", `{"output":"part"}`)
	}
	l.ask(200, "POST", l.base+"/job-done/w/"+done+"?isStream=false", `{"output":"`+strings.Repeat("x", 1000)+`"}`)

	failed := l.run(`{"input":{},"webhook":"` + deadHook + `"}`)
	l.take("w", failed)
	l.ask(200, "POST", l.base+"/job-done/w/"+failed+"?isStream=false", `{"error":"x"}`)
	l.ask(200, "POST", l.base+"/retry/"+failed, "")
	l.ask(200, "POST", l.base+"/purge-queue", "")

	cancelled := l.run(`{"input":{}}`)
	l.take("w", cancelled)
	l.ask(200, "GET", l.base+"/ping/w?job_id="+cancelled, "")
	l.ask(200, "POST", l.base+"/cancel/"+cancelled, "") // the worker never pings again

	l.run(`{"input":{},"policy":{"ttl":10000}}`)
	for _, worker := range []string{"lost1", "lost2", "lost3"} { // until its attempts are spent
		id := l.run(`{"input":{"n":1},"policy":{"executionTimeout":3600000}}`)
		l.ask(200, "GET", l.base+"/job-take/"+worker, "")
		l.ask(200, "GET", l.base+"/ping/"+worker+"?job_id="+id, "")
		l.advance(time.Minute)
	}

	l.ask(200, "GET", l.base+"/ping/sick?status=unhealthy&reason=x", "")
	l.ask(200, "GET", l.base+"/status/"+done+"?ttl=1", "")

	l.ask(200, "POST", l.base+"/purge-queue", "") // before the job that is to be taken comes
	document := make(chan map[string]any)
	go func() { document <- l.ask(200, "POST", l.base+"/runsync?wait=300000", `{"input":{}}`) }()
	taken := l.ask(200, "GET", l.base+"/job-take/w", "")
	l.ask(200, "POST", l.base+"/job-done/w/"+taken["id"].(string)+"?isStream=false", `{"output":1}`)
	<-document
}

// lead starts a server, has f use it, lets time pass and gives how many rows each table has then, and how many entries each map.
func lead(t *testing.T, f func(*life)) (rows, entries map[string]int) {
	data := t.TempDir()
	s := start(t, app.Config{Data: data, TestControls: true, PrivateWebhooks: true, Endpoints: []app.Endpoint{
		{Name: "own"}, {Name: "sleeper", Command: []string{"sleep", "1000"}},
	}})
	s.Clock().Freeze()
	l := &life{T: t, s: s, key: s.FirstKey(), base: "/v2/" + string(s.Endpoints()["own"])}
	pod := l.make("/v2/pods", `{"name":"p","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	l.ask(200, "PATCH", pod, `{"disk":21}`) // hosts are looked up from now on
	l.ask(204, "DELETE", pod, "")
	f(l)
	l.advance(32 * 24 * time.Hour)
	l.advance(time.Minute)
	require.NoError(t, s.Close())

	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "berth.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	return countRows(t, db), countEntries(s)
}

func countRows(t *testing.T, db *sql.DB) map[string]int {
	names, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	require.NoError(t, err)
	rows := map[string]int{}
	for names.Next() {
		var name string
		require.NoError(t, names.Scan(&name))
		rows[name] = 0
	}
	require.NoError(t, names.Close())

	for name := range rows {
		var n int
		require.NoError(t, db.QueryRow("SELECT count(*) FROM "+name).Scan(&n))
		rows[name] = n
	}

	return rows
}

// countEntries counts the entries of every map of ours that the server holds, by the way that leads to it.
func countEntries(s *app.Server) map[string]int {
	entries, seen := map[string]int{}, map[any]bool{}
	var walk func(v reflect.Value, way string)
	walk = func(v reflect.Value, way string) {
		switch v.Kind() {
		case reflect.Pointer:
			if at := [2]any{v.Pointer(), v.Type()}; !v.IsNil() && !seen[at] {
				seen[at] = true
				walk(v.Elem(), way)
			}
		case reflect.Interface:
			walk(v.Elem(), way)
		case reflect.Struct:
			of := v.Type().PkgPath()
			ours := of == "" || strings.HasPrefix(of, "github.com/berthdev/berth/")
			if !ours || strings.HasSuffix(of, "/sqldb") { // the latter keeps statements, of which there are as many as in its source
				return
			}
			for i := range v.NumField() {
				walk(v.Field(i), way+"."+v.Type().Field(i).Name)
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i), way+"[]")
			}
		case reflect.Map:
			entries[way] += v.Len()
			for each := v.MapRange(); each.Next(); {
				walk(each.Value(), way+"[]")
			}
		default: // holds no map
		}
	}

	walk(reflect.ValueOf(s), "server")
	return entries
}

func TestServer_KeepsNothingOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	dead := httptest.NewServer(nil)
	dead.Close()

	wantRows, wantEntries := lead(t, func(*life) {})
	rows, entries := lead(t, func(l *life) {
		l.pods()
		l.account()
		l.endpoints()
		l.jobs(receiver.URL, dead.URL)
		sleeper := "/v2/" + string(l.s.Endpoints()["sleeper"])
		id := l.ask(200, "POST", sleeper+"/run", `{"input":{}}`)["id"].(string)
		l.advance(5 * time.Second) // a worker is started for it
		l.ask(200, "POST", sleeper+"/cancel/"+id, "")
	})

	require.NotEmpty(t, entries)
	require.Positive(t, rows["charges"], "what is billed stays")
	require.Positive(t, rows["audit"], "so does who changed what")
	for _, table := range []string{"charges", "audit", "refusals"} {
		delete(rows, table)
		delete(wantRows, table)
	}
	wantRows["ended_workers"] = 1 // the sleeper's: it goes with its endpoint, which is there
	wantRows["users"]++           // who has had a key stays until somebody deletes it
	require.Equal(t, wantRows, rows)

	for way, n := range entries {
		assert.Equal(t, wantEntries[way], n, way)
	}
	if testing.Verbose() {
		fmt.Println(len(rows), "tables,", len(entries), "maps")
	}
}

func TestPodRetention_KeepsTheRowWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, app.Config{Data: data, TestControls: true, PodRetention: time.Hour})
	s.Clock().Freeze()
	l := &life{T: t, s: s, key: s.FirstKey()}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "berth.db"))
	require.NoError(t, err)

	defer func() { require.NoError(t, db.Close()) }()
	stored := func() (all []string) {
		rows, err := db.Query("SELECT status || env || args FROM pods ORDER BY seq")
		require.NoError(t, err)
		for rows.Next() {
			var one string
			require.NoError(t, rows.Scan(&one))
			all = append(all, one)
		}
		require.NoError(t, rows.Close())
		return all
	}

	body := `{"name":"p","image":"i","args":"secret","env":{"A":"secret"},"cpu":{"id":"cpu3g","vcpuCount":2}}`
	pod := l.make("/v2/pods", body)
	l.make("/v2/pods", body)
	l.ask(204, "DELETE", pod, "")
	l.advance(time.Hour)
	require.Equal(t, []string{`TERMINATED{}`, `RUNNING{"A":"secret"}secret`}, stored())

	l.advance(time.Minute)
	require.Equal(t, []string{`RUNNING{"A":"secret"}secret`}, stored())
	require.NoError(t, s.Close())
}
