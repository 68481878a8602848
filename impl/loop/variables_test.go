package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestVariables_ShowAPodWhatItIs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	keys := compute.NewPodKeys([]byte("secret"))
	create := func(n control.NewPod) compute.PodID {
		n.Name, n.Image = "a", "i"
		p, err := y.ctl.CreatePod(t.Context(), "u", n)
		require.NoError(t, err)
		y.pods.Step(t.Context())
		return p.ID
	}

	env := map[string]string{"A": "1", "RUNPOD_API_KEY": "a wider one"}
	id := create(control.NewPod{CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 4}, Env: env})
	a, pod := y.host.last.Load(), y.pod(id)
	require.Equal(t, env, a.Env, "what the user asks for is as it was sent")
	require.Equal(t, string(id), a.ID)
	require.Equal(t, id.Hostname(), a.Hostname)
	require.Equal(t, map[string]string{
		"RUNPOD_POD_ID": string(id), "RUNPOD_POD_HOSTNAME": id.Hostname(), "RUNPOD_DC_ID": pod.DataCenterID, "RUNPOD_GPU_COUNT": "0", "RUNPOD_CPU_COUNT": "4",
		"RUNPOD_API_KEY": keys.Token(pod), "RUNPOD_API_BASE_URL": "http://outer", "RUNPOD_ENDPOINT_BASE_URL": "http://outer/v2",
	}, a.Facts)
	require.Contains(t, a.Variables("", nil), "RUNPOD_API_KEY=a wider one")

	create(control.NewPod{GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}})
	facts := y.host.last.Load().Facts
	require.Equal(t, "2", facts["RUNPOD_GPU_COUNT"])
	require.Equal(t, "16", facts["RUNPOD_CPU_COUNT"], "8 for each in the catalog")
}

func TestVariables_OnlyANewRunHasAnotherKey(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.create(nil)
	key := func() string {
		y.pods.Step(t.Context())
		return y.host.last.Load().Facts["RUNPOD_API_KEY"]
	}
	first := key()
	y.host.Reset() // a simulated container does not outlive its fleet
	y.restart()
	require.Equal(t, first, key())

	y.clock.Advance(time.Minute)
	y.pods.Step(t.Context())
	require.Equal(t, compute.PodRunning, y.pod(id).Status)
	y.act(id, compute.PodRestart)
	require.NotEqual(t, first, key())
}

func TestVariables_ShowAWorkerWhatItIs(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{"A": "1", "RUNPOD_POD_ID": "another", "RUNPOD_WEBHOOK_GET_JOB": "http://evil", "RUNPOD_API_KEY": "a wider one"})
	seen := &host{Fleet: s.containers}
	s.workers.Runtime = seen
	s.step(0)
	a := seen.last.Load()
	require.NotNil(t, a)
	require.Equal(t, map[string]string{"A": "1", "RUNPOD_API_KEY": "a wider one"}, a.Env)
	require.Equal(t, a.ID, a.Hostname)

	for name, want := range map[string]string{
		"RUNPOD_POD_ID": a.ID, "RUNPOD_POD_HOSTNAME": a.ID, "RUNPOD_DC_ID": "EU-RO-1", "RUNPOD_GPU_COUNT": "0", "RUNPOD_CPU_COUNT": "2",
		"RUNPOD_API_BASE_URL": "http://outer", "RUNPOD_ENDPOINT_BASE_URL": "http://outer/v2", "RUNPOD_ENDPOINT_ID": string(s.e.ID),
		"RUNPOD_WEBHOOK_GET_JOB": "http://outer/v2/" + string(s.e.ID) + "/job-take/$ID?gpu=none", "RUNPOD_API_KEY": a.Facts["RUNPOD_AI_API_KEY"],
	} {
		require.Equal(t, want, a.Facts[name], name)
	}

	key, _, err := s.keyring.Authenticate(t.Context(), a.Facts["RUNPOD_API_KEY"], true)
	require.NoError(t, err)
	require.Equal(t, []compute.Scope{compute.ScopeWork(s.e.ID)}, key.Scopes)
	require.Equal(t, compute.WorkerID(a.ID), key.WorkerID)
}
