package graphql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestNewEndpoint_HasTheDefaultsOfClients(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	for word, want := range map[string]struct {
		kind   compute.EndpointType
		scaler compute.Scaler
	}{
		"": {compute.QueueEndpoint, compute.ByDelay}, "QB": {compute.QueueEndpoint, compute.ByDelay}, "LB": {compute.LoadBalancer, compute.ByCount},
	} {
		kind, c, err := s.newEndpoint(graph.EndpointInput{Name: new("a"), TemplateID: new("t"), GpuIds: new("ADA_24,-NVIDIA L4,- NVIDIA L4,AMPERE_16"), Type: &word})
		require.NoError(t, err, word)
		require.Equal(t, want.kind, kind, word)
		require.Equal(t, control.EndpointChange{
			Name: new("a"), TemplateID: new(compute.TemplateID("t")), IdleByCount: true,
			GPU:        &control.EndpointGPUChange{Pools: []string{"ADA_24", "AMPERE_16"}, Excluded: []string{"NVIDIA L4"}},
			WorkersMax: new(int64(3)), IdleTimeout: new(10 * time.Second), Scaling: &control.Scaling{Scaler: want.scaler, Value: 4},
		}, c, word)
	}
}

func TestNewEndpoint_TakesWhatIsWithinTheBounds(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	type input = graph.EndpointInput
	byCount := func(value int) func(*input) {
		return func(i *input) { i.ScalerType, i.ScalerValue = new("REQUEST_COUNT"), &value }
	}
	for _, of := range []struct {
		want string
		set  func(*input)
	}{
		{"", func(i *input) {
			i.GpuCount, i.ScalerValue, i.WorkersMin, i.WorkersMax, i.IdleTimeout, i.ExecutionTimeoutMs = new(1), new(1), new(0), new(0), new(1), new(0)
		}},
		{"", func(i *input) {
			i.ScalerValue, i.IdleTimeout, i.ExecutionTimeoutMs = new(1_000_000_001), new(3600), new(604_800_000)
		}},
		{"", byCount(1_000_000_000)},
		{"input.scalerValue: must be <= 1000000000", byCount(1_000_000_001)},
		{"input.scalerValue: must be >= 1", byCount(-1)},
		{"input.scalerType: must be QUEUE_DELAY or REQUEST_COUNT", func(i *input) { i.ScalerType = new("FAST") }},
		{"input.gpuCount: must be >= 1", func(i *input) { i.GpuCount = new(0) }},
		{"input.workersMin: must be >= 0", func(i *input) { i.WorkersMin = new(-1) }},
		{"input.workersMax: must be >= 0", func(i *input) { i.WorkersMax = new(-1) }},
		{"input.idleTimeout: must be 1 to 3600", func(i *input) { i.IdleTimeout = new(0) }},
		{"input.idleTimeout: must be 1 to 3600", func(i *input) { i.IdleTimeout = new(3601) }},
		{"input.executionTimeoutMs: must be 0 to 604800000", func(i *input) { i.ExecutionTimeoutMs = new(-1) }},
		{"input.executionTimeoutMs: must be 0 to 604800000", func(i *input) { i.ExecutionTimeoutMs = new(604_800_001) }},
		{"input.type: must be QB or LB", func(i *input) { i.Type = new("QUEUE") }},
		{`input.minCudaVersion: "12" is not a version like 12.8`, func(i *input) { i.MinCudaVersion = new("12") }},
		{`input.allowedCudaVersions: "12" is not a version like 12.8`, func(i *input) { i.AllowedCudaVersions = new("12.8,12") }},
		{"input.name: is required; input.templateId: is required", func(i *input) { i.Name, i.TemplateID = new(""), new("") }},
		{"input.template beside templateId is not served: leave it out", func(i *input) { i.Template = &graph.EndpointTemplateInput{} }},
		{"input.modelReferences is not served: leave it out", func(i *input) { i.ModelReferences = []*string{new("m")} }},
		{"input.workersPFBTarget is not served: leave it out", func(i *input) { i.WorkersPFBTarget = new(1) }},
		{"", func(i *input) { i.ModelReferences, i.WorkersPFBTarget, i.HubReleaseID = []*string{}, new(0), new("") }},
	} {
		i := input{Name: new("a"), TemplateID: new("t"), GpuIds: new("ADA_24")}
		of.set(&i)
		_, _, err := s.newEndpoint(i)
		requireDetail(t, of.want, err, of.want)
	}

	_, c, err := s.newEndpoint(input{
		Name: new("a"), Template: &graph.EndpointTemplateInput{Name: new("t"), ImageName: new("i")}, InstanceIds: []*string{nil, new("cpu3g-2-8"), new("cpu3c-1-2")},
		ExecutionTimeoutMs: new(1500), WorkersMin: new(2), IdleTimeout: new(7), FlashEnvironmentID: new("f"),
	})
	require.NoError(t, err)
	require.Nil(t, c.TemplateID)
	require.Equal(t, &control.TemplateChange{Name: new("t"), Image: new("i"), Serverless: new(true)}, c.Template)
	require.Nil(t, c.GPU)
	require.Equal(t, []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, {ID: "cpu3c", VCPUCount: 1, MemoryGB: 2}}, c.CPUs)
	require.Equal(t, new(1500*time.Millisecond), c.Timeout)
	require.Equal(t, new(7*time.Second), c.IdleTimeout)
	require.Equal(t, new(int64(2)), c.WorkersMin)
	require.Equal(t, new(compute.FlashEnvironmentID("f")), c.Environment)
}

func TestEndpointChange_KeepsWhatIsNull(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	onGPUs := compute.Endpoint{Type: compute.QueueEndpoint, TemplateID: "t", GPU: &compute.EndpointGPU{Pools: []string{"ADA_24"}, Count: 1}, Scaler: compute.ByCount}
	change := func(e compute.Endpoint, i graph.EndpointInput) control.EndpointChange {
		c, err := s.endpointChange(i, e)
		require.NoError(t, err)
		return c
	}

	kept := control.EndpointChange{
		IdleByCount: true, GPU: &control.EndpointGPUChange{}, WorkersMax: new(int64(3)), IdleTimeout: new(10 * time.Second),
		Scaling: &control.Scaling{Value: 4},
	}
	require.Equal(t, kept, change(onGPUs, graph.EndpointInput{}))
	require.Equal(t, kept, change(onGPUs, graph.EndpointInput{Type: new("QB"), GpuIds: new(""), TemplateID: new(""), FlashEnvironmentID: new(""), ScalerType: new("")}))
	require.Equal(t, &control.Scaling{Scaler: compute.ByCount, Value: 5}, change(onGPUs, graph.EndpointInput{ScalerType: new("REQUEST_COUNT"), ScalerValue: new(5)}).Scaling)

	require.Equal(t, &control.EndpointGPUChange{Pools: []string{"AMPERE_16"}, Excluded: []string{}}, change(onGPUs, graph.EndpointInput{GpuIds: new("AMPERE_16")}).GPU, "nothing is excluded any more")
	require.Equal(t, &control.EndpointGPUChange{CUDAVersions: []string{}}, change(onGPUs, graph.EndpointInput{AllowedCudaVersions: new("")}).GPU)
	require.Equal(t, &control.EndpointGPUChange{CUDAVersions: []string{"12.8", "13.0"}}, change(onGPUs, graph.EndpointInput{AllowedCudaVersions: new("12.8, 13.0")}).GPU)
	require.Nil(t, change(onGPUs, graph.EndpointInput{InstanceIds: []*string{new("cpu3g-2-8")}}).GPU, "it has CPUs now")
	require.Equal(t, []string{}, change(onGPUs, graph.EndpointInput{Compliance: []*graph.Compliance{}}).Compliance)

	onCPUs := compute.Endpoint{Type: compute.LoadBalancer, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, Scaler: compute.ByCount}
	require.Nil(t, change(onCPUs, graph.EndpointInput{AllowedCudaVersions: new(""), GpuCount: new(2)}).GPU)
	require.Equal(t, &control.EndpointGPUChange{Pools: []string{"ADA_24"}, Excluded: []string{}}, change(onCPUs, graph.EndpointInput{GpuIds: new("ADA_24"), AllowedCudaVersions: new("")}).GPU, "any version, or what a template has")
	require.Equal(t, []string{"12.8"}, change(onCPUs, graph.EndpointInput{GpuIds: new("ADA_24"), AllowedCudaVersions: new("12.8")}).GPU.CUDAVersions)

	for want, i := range map[string]graph.EndpointInput{
		"input.name: must not be empty":                            {Name: new("")},
		"input.type: it does not change, and the endpoint is QB":   {Type: new("LB")},
		"input.workersMax: must be >= 0":                           {Type: new("LB"), WorkersMax: new(-1)},
		"input.scalerValue: must be <= 1000000000":                 {ScalerValue: new(1_000_000_001)},
		"input.template.advancedStart is not served: leave it out": {Template: &graph.EndpointTemplateInput{AdvancedStart: new(true)}},
		"input.template.config is not served: leave it out":        {Template: &graph.EndpointTemplateInput{Config: map[string]any{"a": 1}}},
		"input.volumes: a worker mounts one volume of the type OBJECT_STORE_VOLUME, not 2": {Volumes: []*graph.EndpointVolumeInput{
			{VolumeID: new("a"), VolumeType: new(graph.VolumeTypeObjectStoreVolume)}, {VolumeID: new("b"), VolumeType: new(graph.VolumeTypeObjectStoreVolume)},
		}},
	} {
		_, err := s.endpointChange(i, onGPUs)
		requireDetail(t, want, err, want)
	}
}

func TestOwnTemplate_ChangesWhatIsThere(t *testing.T) {
	t.Parallel()
	var bad violations
	c, err := ownTemplate(&bad, &graph.EndpointTemplateInput{}, false)
	require.NoError(t, err)
	require.Equal(t, &control.TemplateChange{Serverless: new(true)}, c)
	c, err = ownTemplate(&bad, &graph.EndpointTemplateInput{
		ContainerDiskInGb: new(1), Ports: new(""), Env: []*graph.EnvironmentVariableInput{}, StartScript: new(""), AdvancedStart: new(false), Config: map[string]any{},
	}, false)
	require.NoError(t, err)
	require.Equal(t, &control.TemplateChange{Serverless: new(true), DiskGB: new(int64(1)), Ports: []string{}, Env: map[string]string{}}, c)
	require.NoError(t, bad.err())

	_, err = ownTemplate(&bad, &graph.EndpointTemplateInput{}, true)
	require.NoError(t, err)
	requireDetail(t, "input.template.name: is required; input.template.imageName: is required", bad.err())
}

func TestPlaces_OfACountryAreItsDataCentersEachOnce(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	var inUS []string
	for _, d := range s.Control.Catalog().DataCenters {
		if d.Country == "US" {
			inUS = append(inUS, d.ID)
		}
	}
	require.Greater(t, len(inUS), 1)

	require.Equal(t, append([]string{"EU-RO-1"}, inUS...), s.places(graph.EndpointInput{
		Locations: new("EU-RO-1, US, " + inUS[1]), DataCenterIds: []*string{&inUS[0], nil, new("EU-RO-1")},
	}))
	require.Equal(t, []string{"EU-RO-1", "NOWHERE-1"}, s.places(graph.EndpointInput{DataCenterIds: []*string{new("EU-RO-1"), new("NOWHERE-1")}}))
	require.Equal(t, []string{"NOWHERE-1"}, s.places(graph.EndpointInput{Locations: new("NOWHERE-1")}))
	require.Equal(t, []string{}, s.places(graph.EndpointInput{Locations: new("")}), "anywhere from now on")
	require.Nil(t, s.places(graph.EndpointInput{}), "as it was")
}

func TestVolumeIDs_SaysWhatIsGivenAndWhatIsTakenAway(t *testing.T) {
	t.Parallel()
	type (
		ids    = []compute.VolumeID
		listed = []*graph.NetworkVolumeIdsInput
		mounts = []*graph.EndpointVolumeInput
	)
	global := &graph.EndpointVolumeInput{VolumeID: new("g"), VolumeType: new(graph.VolumeTypeObjectStoreVolume)}
	plain := &graph.EndpointVolumeInput{VolumeID: new("v")}
	named := &graph.EndpointVolumeInput{VolumeID: new("w"), VolumeType: new(graph.VolumeTypeNetworkVolume)}
	for name, of := range map[string]struct {
		input           graph.EndpointInput
		network, global ids
	}{
		"nothing":              {},
		"one":                  {graph.EndpointInput{NetworkVolumeID: new("v")}, ids{"v"}, nil},
		"none any more":        {graph.EndpointInput{NetworkVolumeID: new("")}, ids{}, nil},
		"an empty list":        {graph.EndpointInput{NetworkVolumeIds: listed{}}, ids{}, nil},
		"a list":               {graph.EndpointInput{NetworkVolumeIds: listed{nil, {NetworkVolumeID: new("v")}, {NetworkVolumeID: new("w")}, {NetworkVolumeID: new("v")}}}, ids{"v", "w"}, nil},
		"both":                 {graph.EndpointInput{NetworkVolumeID: new("v"), NetworkVolumeIds: listed{{NetworkVolumeID: new("w")}}}, ids{"v", "w"}, nil},
		"no volumes":           {graph.EndpointInput{Volumes: mounts{}}, nil, ids{}},
		"a volume":             {graph.EndpointInput{Volumes: mounts{nil, plain}}, ids{"v"}, ids{}},
		"a volume of its type": {graph.EndpointInput{Volumes: mounts{named}}, ids{"w"}, ids{}},
		"a global one":         {graph.EndpointInput{Volumes: mounts{global, global}}, nil, ids{"g"}},
		"of each kind":         {graph.EndpointInput{Volumes: mounts{global, plain}, NetworkVolumeIds: listed{{NetworkVolumeID: new("w")}}}, ids{"w", "v"}, ids{"g"}},
	} {
		network, global, err := volumeIDs(of.input)
		require.NoError(t, err, name)
		require.Equal(t, of.network, network, name)
		require.Equal(t, of.global, global, name)
	}
}

func TestEndpointView_ShowsTheFirstVolume(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	e := compute.Endpoint{
		ID: "e", Type: compute.LoadBalancer, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}, VolumeIDs: []compute.VolumeID{"v", "w"},
		IdleTimeout: 90 * time.Second, ScalerValue: 2.5, Timeout: 1500 * time.Millisecond, WorkersMin: 1, WorkersMax: 5, Version: 7,
	}
	known := map[compute.VolumeID]compute.Volume{"v": {ID: "v", DataCenterID: "EU-RO-1"}, "x": {ID: "x", DataCenterID: "GONE-1"}}
	v := s.endpointView(e, known)
	require.Equal(t, graph.ComputeTypeCPU, *v.ComputeType)
	require.Equal(t, "LB", *v.Type)
	require.Equal(t, []int{0, 0, 0}, []int{*v.GpuCount, *v.WorkersStandby, *v.WorkersPFBTarget})
	require.Equal(t, []int{90, 3, 1500, 1, 5, 7}, []int{*v.IdleTimeout, *v.ScalerValue, *v.ExecutionTimeoutMs, *v.WorkersMin, *v.WorkersMax, *v.Version})
	require.Equal(t, graph.FlashBootTypeOff, *v.FlashBootType)
	require.Equal(t, "v", *v.NetworkVolumeID)
	require.Equal(t, "EU-RO-1", *v.NetworkVolume.DataCenter.ID)
	require.Equal(t, "EU-RO-1", *v.NetworkVolumeIds[0].DataCenterID)
	require.Equal(t, "w", *v.NetworkVolumeIds[1].NetworkVolumeID)
	require.Nil(t, v.NetworkVolumeIds[1].DataCenterID, "it is not there any more")

	e.VolumeIDs = []compute.VolumeID{"w", "v"}
	v = s.endpointView(e, known)
	require.Equal(t, "w", *v.NetworkVolumeID)
	require.Nil(t, v.NetworkVolume)
	require.Nil(t, s.volumeView(known["x"]).DataCenter, "the catalog does not have it any more")

	e = compute.Endpoint{Type: compute.QueueEndpoint, GPU: &compute.EndpointGPU{Pools: []string{"ADA_24", "AMPERE_16"}, Excluded: []string{"a", "b"}, Count: 2}}
	v = s.endpointView(e, nil)
	require.Equal(t, graph.ComputeTypeGpu, *v.ComputeType)
	require.Equal(t, "ADA_24,AMPERE_16,-a,-b", *v.GpuIds)
	require.Equal(t, 2, *v.GpuCount)
	require.Nil(t, s.endpointView(compute.Endpoint{Declared: true}, nil).ComputeType)
}

func TestWorkerView_RunsFromItsStart(t *testing.T) {
	t.Parallel()
	s, made := emptyServices(t), time.UnixMilli(1_700_000_000_000).UTC()
	started := made.Add(10 * time.Second)
	s.Clock = compute.NewFrozenClock(started.Add(90 * time.Second))
	s.Live = func(compute.PodID) compute.PodRuntime { return compute.PodRuntime{} }
	e := compute.Endpoint{ID: "e", UserID: "u", Name: "mine", Args: "-x", Ports: []string{"80/http"}, Env: map[string]string{"A": "1"}}
	w := compute.Worker{ID: "w", EndpointID: "e", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, CostPerHour: 0.1, CreatedAt: made}

	v := s.workerView(e, w, "")
	require.Equal(t, graph.PodStatusRunning, *v.DesiredStatus)
	require.Equal(t, "created", *v.LatestTelemetry.State)
	require.True(t, made.Equal(*v.LatestTelemetry.Time))
	require.Nil(t, v.Runtime)
	require.Nil(t, v.LastStartedAt)
	require.Zero(t, *v.UptimeSeconds)

	w.StartedAt = started
	v = s.workerView(e, w, "")
	require.Equal(t, "running", *v.LatestTelemetry.State)
	require.True(t, started.Equal(*v.LatestTelemetry.Time))
	require.True(t, started.Equal(*v.LastStartedAt))
	require.Equal(t, 90, *v.Runtime.UptimeInSeconds)
	require.Equal(t, 90, *v.UptimeSeconds)
}
