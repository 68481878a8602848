package berth_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// day is a script with everything that an endpoint meets: cold starts, workers that stop when idle, times that are drawn, errors, and
// crashes that have jobs tried again.
const day = `{
	"seed": 7,
	"coldStart": {"pull": 4000, "init": 1500, "load": 2500, "warm": 300, "flashBoot": {"chance": 0.5, "warm": 200}},
	"answers": [
		{"match": [{"pointer": "/n", "equals": 5}], "error": "no such thing"},
		{"match": [{"pointer": "/n", "equals": 11}], "times": 2, "crash": {"exitCode": 3, "after": 2000}},
		{"delay": {"normal": {"mean": 20000, "deviation": 5000}}, "output": {"echo": "{{/n}}"}}
	]
}`

// lived plays a day: a job in each half of an hour, whose end is delivered to the inbox. It gives what became of each, and how many webhooks came.
func lived(t *testing.T) (jobs []string, received int) {
	t.Helper()
	s := berthtest.Start(t, berth.Options{})
	clock := s.Clock()
	clock.Freeze()
	status, made := call(t, "POST", s.URL()+"/v2/serverless", s.Key(), `{"name":"day","type":"QUEUE","image":"i",
		"cpu":[{"id":"cpu3c","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4},"workers":{"min":0,"max":2,"idleTimeout":60}}`)
	require.Equal(t, 201, status, made)
	id := made["id"].(string)
	var script berth.Script
	require.NoError(t, json.Unmarshal([]byte(day), &script))
	require.NoError(t, s.Script(id).Set(t.Context(), script))

	began := clock.Now()
	clock.Auto(24*time.Hour, 5*time.Second)
	var ids []string
	for n := range 48 {
		_, job := call(t, "POST", s.QueueURL()+"/v2/"+id+"/run", s.Key(), fmt.Sprintf(`{"input":{"n":%d},"webhook":%q}`, n, s.URL()+"/_berth/inbox/day"))
		ids = append(ids, job["id"].(string))
		require.NoError(t, clock.Sleep(t.Context(), 20*time.Minute))
		status, document := call(t, "GET", s.QueueURL()+"/v2/"+id+"/status/"+ids[n], s.Key(), "")
		require.Equal(t, 200, status)
		jobs = append(jobs, fmt.Sprint(document["status"], document["delayTime"], document["executionTime"], document["output"], document["error"]))
		require.NoError(t, clock.Sleep(t.Context(), 10*time.Minute))
	}

	require.Eventually(t, func() bool { return clock.Now().Equal(began.Add(24 * time.Hour)) }, time.Minute, time.Millisecond)
	for _, gone := range ids[:47] {
		status, _ := call(t, "GET", s.QueueURL()+"/v2/"+id+"/status/"+gone, s.Key(), "")
		require.Equal(t, 404, status, "its retention is over")
	}
	operation := "receiveWebhook"
	entries, err := s.Journal().Entries(t.Context(), berth.JournalFilter{Operation: &operation})
	require.NoError(t, err)
	return jobs, len(entries)
}

func TestClock_PlaysADayTwiceTheSame(t *testing.T) {
	t.Parallel()
	began := time.Now()
	first, received := lived(t)
	t.Logf("a day in %s", time.Since(began))
	require.Equal(t, 48, received)
	require.Contains(t, first[5], "FAILED")
	second, _ := lived(t)
	require.Equal(t, first, second)
}
