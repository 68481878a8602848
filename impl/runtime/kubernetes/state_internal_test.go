package kubernetes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// judged gives the state of a Pod of a node that is there.
func judged(t *testing.T, status, metadata string) runtime.State {
	t.Helper()
	h := copied()
	h.known["n1"] = &node{Status: nodeStatus{Conditions: []condition{{Type: conditionReady, Status: isTrue}}}}
	var p pod
	text := `{"metadata": {` + metadata + `}, "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "i:1"}]}, "status": ` + status + `}`
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	return h.state(&entry{pod: &p})
}

func TestState_SaysWhyAPodIsNotUp(t *testing.T) {
	t.Parallel()
	const at = `"startedAt": "2026-01-02T03:04:05Z", "finishedAt": "2026-01-02T03:05:05Z"`
	for reason, test := range map[string]struct {
		status, metadata string
		phase            runtime.Phase
		code             int
	}{
		"": {`{"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]}`, ``, runtime.Starting, 0},
		"waiting for quota": {
			`{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "waiting for quota"}]}`, ``, runtime.Starting, 0,
		},
		`its container of image "i:1" cannot be made on node n1: secret "x" not found`: {
			`{"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": "secret \"x\" not found"}}}]}`, ``, runtime.Starting, 0,
		},
		"its node n1 was lost":                                  {`{"phase": "Failed", "reason": "NodeLost"}`, ``, runtime.Ended, -1},
		"node n1 was shut down":                                 {`{"phase": "Failed", "reason": "Terminated", "message": "Pod was terminated in response to imminent node shutdown."}`, ``, runtime.Ended, -1},
		"node n1 refused it: OutOfcpu: Node didn't have enough": {`{"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough"}`, ``, runtime.Ended, -1},
		"it had to make room on node n1 for something of a higher priority": {
			`{"phase": "Failed", "reason": "Preempting", "message": "Preempted in order to admit critical pod"}`, ``, runtime.Ended, -1,
		},
		"node n1 does not know any more how it ended": {
			`{"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", ` + at + `}}}]}`, ``, runtime.Ended, 137,
		},
		"it was deleted in the cluster, and not by berth": {
			`{"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 143, "reason": "Error", ` + at + `}}}]}`,
			`"deletionTimestamp": "2026-01-02T03:05:04Z", "deletionGracePeriodSeconds": 0`, runtime.Ended, 143,
		},
		"noted before": {
			`{"phase": "Failed", "reason": "Evicted"}`, `"annotations": {"berth.dev/reason": "noted before"}`, runtime.Ended, -1,
		},
	} {
		s := judged(t, test.status, test.metadata)
		require.Equal(t, test.phase, s.Phase, reason)
		require.Equal(t, reason, s.Reason)
		require.Equal(t, test.code, s.ExitCode, reason)
		require.Equal(t, "n1", s.HostID)
		require.Equal(t, strings.Contains(reason, "was lost"), s.Lost, reason)
	}

	after := judged(t, `{"phase": "Succeeded", "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 0, "reason": "Completed", `+at+`}}}]}`,
		`"deletionTimestamp": "2026-01-02T04:00:30Z", "deletionGracePeriodSeconds": 30`)
	require.Equal(t, runtime.Ended, after.Phase)
	require.Empty(t, after.Reason, "it had ended by itself before it was deleted")
}

func TestState_SaysThatAnImageIsBeingFetched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ready, state string
		want         bool
	}{
		{"True", `"waiting": {"reason": "ContainerCreating"}`, true},
		{"False", `"waiting": {"reason": "ContainerCreating"}`, false},
		{"True", `"waiting": {"reason": "ImagePullBackOff"}`, false},
		{"True", `"running": {"startedAt": "2026-01-02T03:04:05Z"}`, false},
		{"True", ``, false},
	} {
		status := `{"conditions": [{"type": "PodReadyToStartContainers", "status": "` + c.ready + `"}],
			"containerStatuses": [{"name": "main", "state": {` + c.state + `}}]}`
		require.Equal(t, c.want, judged(t, status, ``).Fetching, status)
	}
}
