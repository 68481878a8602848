package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// workerOwner gives the containers of workers apart from those of pods.
const workerOwner = "-workers"

// fleet is an endpoint whose workers are containers.
type fleet struct {
	*testing.T
	engine *client.Client
	owner  string
	at     func() (url, queue string) // of the server
	close  func() error
	key    string
	id     string
}

// newFleet starts a server and creates an endpoint of berth's own worker. The server's data are in dir.
func newFleet(t *testing.T, c app.Config, members string) *fleet {
	engine, owner := dockertest.Need(t)
	t.Cleanup(func() { dockertest.Sweep(t, owner+workerOwner) })
	image := dockertest.Program(t, "berth", "github.com/berthdev/berth/cmd/berth")
	own(t, c.Data, owner)
	s := start(t, c)
	f := &fleet{T: t, engine: engine, owner: owner + workerOwner, key: s.FirstKey(), close: s.Close}
	f.at = func() (string, string) { return s.URL(), s.QueueURL() }
	status, made := call(t, "POST", s.URL()+"/v2/serverless", f.key, `{"name":"slow","type":"QUEUE","image":"`+image+`","args":"worker --handler sleep",
		"cpu":[{"id":"cpu3c","vcpuCount":2}],"disk":1,"scaling":{"type":"QUEUE_DELAY","queueDelay":0.5}`+members+`}`)
	require.Equal(t, 201, status, made)
	f.id = made["id"].(string)
	return f
}

// ids are the containers of the workers that are up.
func (f *fleet) ids() (ids []string) {
	ours := make(client.Filters).Add("label", "dev.berth.owner="+f.owner)
	list, err := f.engine.ContainerList(context.Background(), client.ContainerListOptions{Filters: ours})
	require.NoError(f, err)
	for _, one := range list.Items {
		ids = append(ids, one.ID)
	}
	return ids
}

// workers gives how many workers have each status, and total.
func (f *fleet) workers() map[string]any {
	url, _ := f.at()
	_, answer := call(f.T, "GET", url+"/v2/serverless/"+f.id+"/workers", f.key, "")
	return answer["summary"].(map[string]any)
}

// send is call without a look at the documents, for many requests.
func (f *fleet) send(method, operation string, body string) (document map[string]any) {
	_, queue := f.at()
	req, err := http.NewRequestWithContext(context.Background(), method, queue+"/v2/"+f.id+"/"+operation, strings.NewReader(body))
	require.NoError(f, err)
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(f, err)

	defer func() { _ = res.Body.Close() }()
	var text bytes.Buffer
	_, err = text.ReadFrom(res.Body)
	require.NoError(f, err)
	require.Equal(f, 200, res.StatusCode, text.String())
	require.NoError(f, json.Unmarshal(text.Bytes(), &document))

	return document
}

// submit submits jobs that sleep for so many milliseconds and a bit, each another one, and gives the bits by job.
func (f *fleet) submit(n int, ms float64) map[string]float64 {
	var mu sync.Mutex
	var group sync.WaitGroup
	jobs := map[string]float64{}
	for part := range 8 {
		group.Go(func() {
			for i := part; i < n; i += 8 {
				sleep := ms + float64(i)/1000
				id := f.send("POST", "run", fmt.Sprintf(`{"input":{"ms":%g}}`, sleep))["id"].(string)
				mu.Lock()
				jobs[id] = sleep
				mu.Unlock()
			}
		})
	}

	group.Wait()
	return jobs
}

// ended gives how many jobs are done, and how many failed.
func (f *fleet) ended() (completed, failed float64) {
	counts := f.send("GET", "health", "")["jobs"].(map[string]any)
	return counts["completed"].(float64), counts["failed"].(float64)
}

// state tells what there is of the endpoint and of jobs that are not completed, for who reads why a test failed.
func (f *fleet) state(jobs map[string]float64) string {
	text := fmt.Sprintln("health:", f.send("GET", "health", ""), "workers:", f.workers())
	for id := range jobs {
		if document := f.send("GET", "status/"+id, ""); document["status"] != "COMPLETED" {
			text += fmt.Sprintln(document)
		}
	}
	return text
}

// requireDone asserts that each job is COMPLETED with its own output. One that lost three workers has FAILED, and is tried again.
func (f *fleet) requireDone(jobs map[string]float64) {
	for id, sleep := range jobs {
		document := f.send("GET", "status/"+id, "")
		if why, _ := document["error"].(string); strings.HasPrefix(why, "gave up after 3 attempts: ") {
			f.send("POST", "retry/"+id, "")
			document = f.send("GET", "status-sync/"+id+"?wait=60000", "")
		}
		require.Equal(f, "COMPLETED", document["status"], document)
		require.Equal(f, map[string]any{"slept": sleep}, document["output"])
	}
}

func TestDocker_EndpointScalesAndFinishesJobsDespiteKills(t *testing.T) {
	t.Parallel()
	dockertest.Need(t)
	f := newFleet(t, app.Config{Data: t.TempDir(), Runtime: "docker", QueueListen: "0.0.0.0:0", Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, `,"workers":{"max":3,"idleTimeout":2}`)
	require.EqualValues(t, 0, f.workers()["total"])
	require.Empty(t, f.ids())

	const n, kills = 1000, 8
	jobs := f.submit(n, 30)
	require.Len(t, jobs, n)
	killed, most := 0, 0

	at := 0.0
	deadline := time.Now().Add(4 * time.Minute)
	for done := 0.0; done < n; <-time.After(100 * time.Millisecond) {
		completed, failed := f.ended()
		require.LessOrEqual(t, failed, float64(kills/3), "a job fails that lost three workers, and no other")
		done = completed + failed
		up := f.ids()
		most = max(most, len(up))
		if len(up) > 3 || time.Now().After(deadline) {
			require.Fail(t, "too many workers, or too slow", "%d are up, %d were killed: %s", len(up), killed, f.state(jobs))
		}
		if killed < kills && done >= at+n/20 && len(up) > 0 { // every fifty jobs
			at = done
			victim := up[rand.IntN(len(up))]
			if _, err := f.engine.ContainerKill(context.Background(), victim, client.ContainerKillOptions{Signal: "KILL"}); err == nil {
				killed++
			}
		}
	}

	require.Equal(t, 3, most)
	require.Equal(t, kills, killed)
	f.requireDone(jobs)
	t.Logf("%v jobs lost a worker", f.send("GET", "health", "")["jobs"].(map[string]any)["retried"])
	require.Eventually(t, func() bool { return f.workers()["total"] == 0.0 && len(f.ids()) == 0 }, time.Minute, 100*time.Millisecond)
	require.NoError(t, f.close())
}
