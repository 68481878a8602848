package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

func TestEndpoints_MountsAreThoseOfTheNetworkVolumesToo(t *testing.T) {
	t.Parallel()
	mounted := func(ids ...string) []rest.VolumeMount {
		return views(ids, func(id string) rest.VolumeMount { return rest.VolumeMount{VolumeID: id} })
	}
	for name, c := range map[string]struct {
		volumes         []string
		mounts          *rest.EndpointMounts
		network, global []compute.VolumeID
		refused         bool
	}{
		"nothing":       {nil, nil, nil, nil, false},
		"volumes alone": {[]string{"a"}, nil, []compute.VolumeID{"a"}, nil, false},
		"mounts alone":  {nil, &rest.EndpointMounts{Network: mounted("a", "b")}, []compute.VolumeID{"a", "b"}, nil, false},
		"both alike":    {[]string{"a"}, &rest.EndpointMounts{Network: mounted("a")}, []compute.VolumeID{"a"}, nil, false},
		"two answers":   {[]string{"a"}, &rest.EndpointMounts{Network: mounted("b")}, nil, nil, true},
		"none and one":  {[]string{}, &rest.EndpointMounts{Network: mounted("b")}, nil, nil, true},
		"none any more": {nil, &rest.EndpointMounts{Network: mounted()}, []compute.VolumeID{}, nil, false},
		"global":        {[]string{"a"}, &rest.EndpointMounts{Global: mounted("g")}, []compute.VolumeID{"a"}, []compute.VolumeID{"g"}, false},
		"global none":   {nil, &rest.EndpointMounts{Global: mounted()}, nil, []compute.VolumeID{}, false},
	} {
		change, err := endpointChange(rest.UpdateEndpointRequest{NetworkVolumes: c.volumes, Mounts: c.mounts})
		if c.refused {
			require.Equal(t, compute.Rejected, compute.CodeOf(err), name)
			require.ErrorContains(t, err, "mounts.network", name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.network, change.VolumeIDs, name)
		require.Equal(t, c.global, change.GlobalIDs, name)
	}
}

func TestEndpoints_ChangesAreOfWhatIsThere(t *testing.T) {
	t.Parallel()
	nothing, err := endpointChange(rest.UpdateEndpointRequest{Workers: &rest.EndpointWorkers{}})
	require.NoError(t, err)
	require.Equal(t, control.EndpointChange{}, nothing)

	idle, timeout, least, most := int64(30), int64(1500), int64(1), int64(4)
	some, err := endpointChange(rest.UpdateEndpointRequest{
		Workers: &rest.EndpointWorkers{Min: &least, Max: &most, IdleTimeout: &idle}, Timeout: &timeout, Registry: nullable.NewNullNullable[string](),
		CPU: []rest.CreateCPUConfig{{ID: "cpu3g", VcpuCount: 4}, {ID: "cpu3c", VcpuCount: 8}},
	})
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, *some.IdleTimeout)
	require.Equal(t, 1500*time.Millisecond, *some.Timeout)
	require.EqualValues(t, 1, *some.WorkersMin)
	require.EqualValues(t, 4, *some.WorkersMax)
	require.Empty(t, *some.RegistryID)
	require.Equal(t, []compute.CPU{{ID: "cpu3g", VCPUCount: 4}, {ID: "cpu3c", VCPUCount: 8}}, some.CPUs)
	_, err = endpointChange(rest.UpdateEndpointRequest{Registry: nullable.NewNullableWithValue("")})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestEndpoints_ScalingIsReadAsItIsShown(t *testing.T) {
	t.Parallel()
	require.Nil(t, scalingOf(nil))
	for _, e := range []compute.Endpoint{{Scaler: compute.ByCount, ScalerValue: 7}, {Scaler: compute.ByDelay, ScalerValue: 0.5}} {
		shown := scalingView(e)
		require.Equal(t, &control.Scaling{Scaler: e.Scaler, Value: e.ScalerValue}, scalingOf(&shown))
	}
}

func TestEndpoints_RolloutIsOverWhenAllWorkersHaveTheLatest(t *testing.T) {
	t.Parallel()
	for workers, want := range map[[2]int64]rest.RolloutSummary{
		{0, 0}: {PercentOnLatest: 100},
		{0, 3}: {WorkersTotal: 3, InProgress: true},
		{1, 3}: {WorkersOnLatest: 1, WorkersTotal: 3, InProgress: true, PercentOnLatest: 33},
		{1, 1}: {WorkersOnLatest: 1, WorkersTotal: 1, PercentOnLatest: 100},
		{3, 3}: {WorkersOnLatest: 3, WorkersTotal: 3, PercentOnLatest: 100},
	} {
		require.Equal(t, want, rollout(workers[0], workers[1]), workers)
	}
}

func TestEndpoints_WorkersAreCountedByTheirStatus(t *testing.T) {
	t.Parallel()
	of := func(statuses ...compute.WorkerStatus) (workers []control.EndpointWorker) {
		for _, s := range statuses {
			w := control.EndpointWorker{}
			w.Status = s
			workers = append(workers, w)
		}
		return workers
	}
	require.Equal(t, rest.WorkerSummary{Running: 2, Idle: 1, Total: 3}, workerSummary(of(compute.WorkerRunning, compute.WorkerIdle, compute.WorkerRunning)))
	require.Equal(t, rest.WorkerSummary{Initializing: 1, Throttled: 1, Unhealthy: 1, Total: 3}, workerSummary(of(compute.WorkerInitializing, compute.WorkerThrottled, compute.WorkerUnhealthy)))
}

func TestEndpoints_WorkerThatDidNotStartHasNoUptime(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	worker := control.EndpointWorker{}
	waits := endpointWorkerView(worker, now)
	require.True(t, waits.StartedAt.IsNull())
	require.True(t, waits.UptimeSeconds.IsNull())
	require.True(t, waits.Version.IsNull())
	require.True(t, waits.GpuTypeID.IsNull())

	worker.StartedAt, worker.Version = now.Add(-90*time.Second), 3
	runs := endpointWorkerView(worker, now)
	require.EqualValues(t, 90, runs.UptimeSeconds.MustGet())
	require.EqualValues(t, 3, runs.Version.MustGet())
	require.EqualValues(t, 0, endpointWorkerView(worker, now.Add(-time.Hour)).UptimeSeconds.MustGet(), "a clock that was set back")

	require.True(t, endedWorkerView(compute.EndedWorker{}).StartedAt.IsNull())
	require.True(t, endedWorkerView(compute.EndedWorker{}).ExitCode.IsNull())
}
