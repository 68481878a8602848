package graphql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// requireDetail asserts what an error says; empty: there is none.
func requireDetail(t *testing.T, want string, err error, of ...any) {
	t.Helper()
	if want == "" {
		require.NoError(t, err, of...)
		return
	}
	var refused *compute.Error
	require.ErrorAs(t, err, &refused, of...)
	require.Equal(t, want, refused.Detail, of...)
}

func TestInstance_IsFlavorVCPUsAndGB(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]compute.CPU{
		"cpu3g-2-8": {ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, "cpu3g-1-1": {ID: "cpu3g", VCPUCount: 1, MemoryGB: 1}, "a-19-20": {ID: "a", VCPUCount: 19, MemoryGB: 20},
		"a-2147483647-2147483647": {ID: "a", VCPUCount: 2147483647, MemoryGB: 2147483647},
	} {
		cpu, ok := instance(text)
		require.True(t, ok, text)
		require.Equal(t, want, cpu, text)
	}
	for _, text := range []string{
		"", "cpu3g", "cpu3g-2", "cpu3g-2-8-1", "-2-8", "cpu3g-0-8", "cpu3g-2-0", "cpu3g--2-8", "cpu3g-x-8", "cpu3g-2-x", "cpu3g-2-2147483648", "cpu3g-2147483648-8", "cpu3g-+2-8", "cpu3g-02-8", "cpu3g-2-08",
	} {
		_, ok := instance(text)
		require.False(t, ok, text)
	}
}

func TestCPUPod_SizeIsAPowerOfTwo(t *testing.T) {
	t.Parallel()
	smallest := compute.CPU{ID: "cpu3c", VCPUCount: 2, MemoryGB: 4}
	for id, want := range map[string]string{
		"cpu3g-1-4": "", "cpu3g-2-8": "", "cpu3g-64-256": "",
		"cpu3g-3-12": "input.instanceId: 3 vCPUs is not a power of two", "cpu3g-6-24": "input.instanceId: 6 vCPUs is not a power of two",
		"cpu3g-3-x": `input.instanceId: "cpu3g-3-x" is not flavor-vCPUs-GB, such as cpu3g-2-8`,
	} {
		_, err := cpuPod(graph.DeployCPUPodInput{InstanceID: &id}, smallest)
		requireDetail(t, want, err, id)
	}

	n, err := cpuPod(graph.DeployCPUPodInput{InstanceID: new(""), TemplateID: new(defaultCPUTemplate), StartJupyter: new(false)}, smallest)
	require.NoError(t, err)
	require.Equal(t, &smallest, n.CPU)
	require.Empty(t, n.TemplateID)
	n, err = cpuPod(graph.DeployCPUPodInput{TemplateID: new("mine"), ContainerDiskInGb: new(1)}, smallest)
	require.NoError(t, err)
	require.Equal(t, compute.TemplateID("mine"), n.TemplateID)
	require.EqualValues(t, 1, n.DiskGB)
}

func TestGPUPod_TakesTheLeastOfEachNumber(t *testing.T) {
	t.Parallel()
	type input = graph.PodFindAndDeployOnDemandInput
	for want, set := range map[string]func(*input){
		"": func(i *input) {
			i.GpuCount, i.ContainerDiskInGb, i.VolumeInGb, i.DeployCost, i.Port = new(1), new(1), new(0), new(0.0), new("")
			i.MinVcpuCount, i.MinMemoryInGb, i.MinDisk, i.MinDownload, i.MinUpload = new(0), new(0), new(0), new(0), new(0)
		},
		"input.gpuCount: must be >= 1":                           func(i *input) { i.GpuCount = new(0) },
		"input.containerDiskInGb: must be >= 1":                  func(i *input) { i.ContainerDiskInGb = new(0) },
		"input.volumeInGb: must be >= 0":                         func(i *input) { i.VolumeInGb = new(-1) },
		"input.deployCost: must be >= 0":                         func(i *input) { i.DeployCost = new(-0.01) },
		"input.minVcpuCount: must be >= 0":                       func(i *input) { i.MinVcpuCount = new(-1) },
		"input.minMemoryInGb: must be >= 0":                      func(i *input) { i.MinMemoryInGb = new(-1) },
		"input.minDisk: must be >= 0":                            func(i *input) { i.MinDisk = new(-1) },
		"input.minDownload: must be >= 0":                        func(i *input) { i.MinDownload = new(-1) },
		"input.minUpload: must be >= 0":                          func(i *input) { i.MinUpload = new(-1) },
		"input.gpuTypeId: is required":                           func(i *input) { i.GpuTypeID = new("") },
		"input.port is not served: leave it out":                 func(i *input) { i.Port = new("22") },
		`input.cudaVersion: "12" is not a version like 12.8`:     func(i *input) { i.CudaVersion = new("12") },
		`input.minCudaVersion: "12." is not a version like 12.8`: func(i *input) { i.MinCudaVersion = new("12.") },
	} {
		i := &input{GpuTypeID: new("NVIDIA L4"), ImageName: new("i")}
		set(i)
		n, types, clouds, err := gpuPod(i)
		requireDetail(t, want, err, want)
		if want == "" {
			require.Equal(t, &compute.GPU{Count: 1}, n.GPU)
			require.EqualValues(t, 1, n.DiskGB)
			require.Nil(t, n.Persistent)
			require.Equal(t, []string{"NVIDIA L4"}, types)
			require.Equal(t, []compute.Cloud{compute.Secure}, clouds)
		}
	}

	n, _, _, err := gpuPod(&input{GpuTypeID: new("NVIDIA L4")})
	require.NoError(t, err)
	require.Equal(t, &compute.GPU{Count: 1}, n.GPU)
}

func TestNetwork_HasOneVolumeOfTheRightType(t *testing.T) {
	t.Parallel()
	mount := func(id string) *graph.PodVolumeMountInput { return &graph.PodVolumeMountInput{VolumeID: &id} }
	of := func(id string, mounts ...*graph.PodVolumeMountInput) ([]compute.NetworkMount, error) {
		var bad violations
		all, err := network(&bad, &id, new("/p"), mounts)
		require.NoError(t, bad.err())
		return all, err
	}
	all, err := of("v")
	require.NoError(t, err)
	require.Equal(t, []compute.NetworkMount{{VolumeID: "v", Path: "/p"}}, all)
	all, err = of("", nil, mount("v"))
	require.NoError(t, err)
	require.Equal(t, []compute.NetworkMount{{VolumeID: "v", Path: "/workspace"}}, all)
	all, err = of("", nil)
	require.NoError(t, err)
	require.Nil(t, all)

	_, err = of("v", mount("w"))
	requireDetail(t, "input.volumeMounts: a pod mounts one network volume, not 2", err)
	other := mount("w")
	other.VolumeType = new(graph.VolumeTypeObjectStoreVolume)
	_, err = of("v", other, mount("x"))
	requireDetail(t, "input.volumeMounts.volumeType OBJECT_STORE_VOLUME is not served: leave it out", err)
}

func TestNetwork_IsMountedWhereRESTTakesIt(t *testing.T) {
	t.Parallel()
	const refused = "input.volumeMounts.mountPath: must be an absolute path and not /, without . and .. as a part, colons and control characters"
	for path, want := range map[string]string{"": "", "/a": "", "/": refused, "a": refused, "/a/../etc": refused, "/a:ro": refused} {
		var bad violations
		all, err := network(&bad, nil, nil, []*graph.PodVolumeMountInput{{VolumeID: new("v"), MountPath: &path}})
		require.NoError(t, err)
		requireDetail(t, want, bad.err(), path)
		require.Equal(t, []compute.NetworkMount{{VolumeID: "v", Path: or(&path, "/workspace")}}, all)
	}
}

func TestInputs_NullInAListIsLeftOut(t *testing.T) {
	t.Parallel()
	var bad violations
	require.Equal(t, map[string]string{"A": "1", "B": ""}, env(&bad, []*graph.EnvironmentVariableInput{nil, {Key: new("A"), Value: new("1")}, nil, {Key: new("B")}}))
	require.Equal(t, map[string]string{"22": "SSH", "80": "Page"}, portNames(&bad, []*graph.TemplatePortConfigInput{
		nil, {Port: new("22/tcp"), Name: new("SSH")}, nil, {Port: new("80"), Name: new("Page")},
	}))
	require.Equal(t, []string{"GDPR", "HIPAA"}, words([]*graph.Compliance{nil, new(graph.ComplianceGdpr), new(graph.Compliance("")), new(graph.ComplianceHipaa)}))
	require.NoError(t, bad.err())

	require.Nil(t, portNames(&bad, nil), "the names stay")
	require.Equal(t, map[string]string{}, portNames(&bad, []*graph.TemplatePortConfigInput{}), "there are none any more")
}

func TestPodChange_HasOfAMountWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		size *int
		path *string
		want control.PodChange
	}{
		"nothing":                {},
		"no size and no path":    {size: new(0), path: new("")},
		"a size":                 {size: new(30), want: control.PodChange{PersistentGB: new(int64(30))}},
		"a size below the least": {size: new(1), want: control.PodChange{PersistentGB: new(int64(10))}},
		"a path":                 {path: new("/b"), want: control.PodChange{MountPath: new("/b")}},
		"both":                   {size: new(30), path: new("/b"), want: control.PodChange{PersistentGB: new(int64(30)), MountPath: new("/b")}},
	} {
		c, err := podChange(graph.PodEditJobInput{VolumeInGb: of.size, VolumeMountPath: of.path})
		require.NoError(t, err, name)
		require.Equal(t, of.want, c, name)
	}
}

func TestPodChange_ChangesWhatIsThere(t *testing.T) {
	t.Parallel()
	c, err := podChange(graph.PodEditJobInput{
		ImageName: new("j"), DockerArgs: new(""), ContainerDiskInGb: new(1), Ports: new("22/tcp"), ContainerRegistryAuthID: new("r"), Port: new(""),
		Env: []*graph.EnvironmentVariableInput{{Key: new("A"), Value: new("1")}},
	})
	require.NoError(t, err)
	require.Equal(t, control.PodChange{
		Image: new("j"), Args: new(""), DiskGB: new(int64(1)), Ports: []string{"22/tcp"}, RegistryID: new(compute.RegistryID("r")), Env: map[string]string{"A": "1"},
	}, c)

	c, err = podChange(graph.PodEditJobInput{ImageName: new(""), Ports: new(""), ContainerRegistryAuthID: new(""), Env: []*graph.EnvironmentVariableInput{}})
	require.NoError(t, err)
	require.Equal(t, control.PodChange{Ports: []string{}, Env: map[string]string{}}, c)
	_, err = podChange(graph.PodEditJobInput{Port: new("22")})
	requireDetail(t, "input.port is not served: leave it out", err)
}

func TestNewCluster_HasItsBounds(t *testing.T) {
	t.Parallel()
	for pods, want := range map[int]string{
		1: "input.podCount: must be 2 to 250", 2: "", 250: "", 251: "input.podCount: must be 2 to 250",
	} {
		_, err := newCluster(graph.CreateClusterInput{GpuTypeID: new("NVIDIA L4"), ImageName: new("i"), PodCount: &pods})
		requireDetail(t, want, err, pods)
	}
	_, err := newCluster(graph.CreateClusterInput{})
	requireDetail(t, "input.podCount: is required; input.imageName: is required without a template", err)
	_, err = newCluster(graph.CreateClusterInput{ImageName: new("i"), PodCount: new(2)})
	requireDetail(t, "input.gpuTypeId: is required", err)
	_, err = newCluster(graph.CreateClusterInput{GpuTypeID: new("NVIDIA L4"), ImageName: new("i"), PodCount: new(2), Throughput: new(1)})
	requireDetail(t, "input.throughput is not served: leave it out", err)

	n, err := newCluster(graph.CreateClusterInput{
		GpuTypeID: new("NVIDIA L4"), ImageName: new("i"), PodCount: new(4), GpuCountPerPod: new(2), DeployCost: new(10.0), Type: new(graph.ClusterType("")),
		TemplateID: new(""), Throughput: new(0),
	})
	require.NoError(t, err)
	require.Equal(t, "NVIDIA L4 x 8", n.Name)
	require.Equal(t, compute.ApplicationCluster, n.Type)
	require.True(t, n.Network)
	require.EqualValues(t, 4, n.PodCount)
	require.InDelta(t, 2.5, n.Pod.MaxCost, 0, "what one of the pods may cost")
	require.Equal(t, &compute.GPU{ID: "NVIDIA L4", Count: 2}, n.Pod.GPU)
	n, err = newCluster(graph.CreateClusterInput{GpuTypeID: new("NVIDIA L4"), ImageName: new("i"), PodCount: new(4), Type: new(graph.ClusterTypeTraining), ClusterName: new("mine")})
	require.NoError(t, err)
	require.Equal(t, "mine", n.Name)
	require.Equal(t, compute.TrainingCluster, n.Type)
}

func TestVolumeSize_IsThatOfREST(t *testing.T) {
	t.Parallel()
	for gb, want := range map[int64]string{9: "input.size: must be 10 to 4096", 10: "", 4096: "", 4097: "input.size: must be 10 to 4096"} {
		var bad violations
		volumeSize(&bad, gb)
		requireDetail(t, want, bad.err(), gb)
	}
}

func TestTemplateChange_NewOneNeedsAnImage(t *testing.T) {
	t.Parallel()
	const required = "input.imageName: is required"
	for _, of := range []struct {
		id, image *string
		want      string
	}{
		{nil, new("i"), ""}, {new("t"), nil, ""}, {new("t"), new("i"), ""}, {new(""), new("i"), ""},
		{nil, nil, required}, {new(""), nil, required}, {nil, new(""), required}, {new("t"), new(""), required},
	} {
		_, err := templateChange(&graph.SaveTemplateInput{ID: of.id, ImageName: of.image, Name: "a", ContainerDiskInGb: 1})
		requireDetail(t, of.want, err, value(of.id)+" "+value(of.image))
	}
	_, err := templateChange(&graph.SaveTemplateInput{})
	requireDetail(t, "input.name: must not be empty; "+required+"; input.containerDiskInGb: must be >= 1", err)
}

func TestTemplateChange_ReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	c, err := templateChange(&graph.SaveTemplateInput{Name: "a", ImageName: new("i"), ContainerDiskInGb: 1, Category: new("")})
	require.NoError(t, err)
	require.Equal(t, control.TemplateChange{
		Name: new("a"), NameAlone: true, Image: new("i"), DiskGB: new(int64(1)), Mounts: &control.TemplateMounts{},
	}, c)

	c, err = templateChange(&graph.SaveTemplateInput{
		Name: "a", ImageName: new("i"), ContainerDiskInGb: 30, VolumeInGb: 1, Ports: new("22/tcp"), Env: []*graph.EnvironmentVariableInput{}, Category: new("AMD"),
		PortsConfig: []*graph.TemplatePortConfigInput{}, StartScript: new(""), AdvancedStart: new(false), Config: map[string]any{},
	})
	require.NoError(t, err)
	require.Equal(t, control.TemplateChange{
		Name: new("a"), NameAlone: true, Image: new("i"), DiskGB: new(int64(30)), Ports: []string{"22/tcp"}, Env: map[string]string{}, PortNames: map[string]string{},
		Category: new(compute.ForAMD), Mounts: &control.TemplateMounts{Persistent: &compute.PersistentMount{SizeGB: 10}},
	}, c)

	for _, config := range []any{map[string]any{"a": 1}, "text", []any{}, 0, false} {
		_, err = templateChange(&graph.SaveTemplateInput{Name: "a", ImageName: new("i"), ContainerDiskInGb: 1, Config: config})
		requireDetail(t, "input.config is not served: leave it out", err, config)
	}
	_, err = templateChange(&graph.SaveTemplateInput{Name: "a", ImageName: new("i"), ContainerDiskInGb: 1, AdvancedStart: new(true)})
	requireDetail(t, "input.advancedStart is not served: leave it out", err)
}

func TestWanted_IsOneGPUOfEitherCloudUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	both := []compute.Cloud{compute.Secure, compute.Community}
	for _, of := range []struct {
		count  *int
		secure *bool
		want   int64
		clouds []compute.Cloud
	}{
		{nil, nil, 1, both}, {new(1), nil, 1, both}, {new(8), nil, 8, both},
		{nil, new(true), 1, []compute.Cloud{compute.Secure}}, {nil, new(false), 1, []compute.Cloud{compute.Community}},
	} {
		w, err := wanted("NVIDIA L4", of.count, of.secure)
		require.NoError(t, err)
		require.Equal(t, control.Wanted{GPU: compute.GPU{ID: "NVIDIA L4", Count: of.want}, Clouds: of.clouds}, w)
	}
	_, err := wanted("", new(0), nil)
	requireDetail(t, "input.gpuCount: must be >= 1", err)
}
