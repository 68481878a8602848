package graphql

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

const (
	minVolumeGB   = 10 // as REST has it
	defaultVolume = "/workspace"

	// defaultCPUTemplate is the template that one client names on every CPU pod without one. It asks for nothing.
	defaultCPUTemplate = "runpod-ubuntu"
)

// portPattern is what REST has for an entry of ports.
var portPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])/(http|tcp|udp)$`)
})

// mountPattern is what REST has for a mount path.
var mountPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(/([^/.:\x00-\x1f\x7f][^/:\x00-\x1f\x7f]*|\.[^/.:\x00-\x1f\x7f][^/:\x00-\x1f\x7f]*|\.\.[^/:\x00-\x1f\x7f]+))+/?$`)
})

// mountPath notes a path at which nothing can be mounted, whether something is or not. Null and empty text are none.
func mountPath(bad *violations, path *string) {
	bad.must(value(path) == "" || mountPattern().MatchString(*path), "volumeMountPath", "must be an absolute path and not /, without . and .. as a part, colons and control characters")
}

// gpuPod translates the input of podFindAndDeployOnDemand, with the GPU types and clouds among which there is a choice.
func gpuPod(i *graph.PodFindAndDeployOnDemandInput) (n control.NewPod, types []string, clouds []compute.Cloud, err error) {
	var bad violations
	n = control.NewPod{
		Name: value(i.Name), Image: value(i.ImageName), Args: value(i.DockerArgs), RegistryID: compute.RegistryID(value(i.ContainerRegistryAuthID)),
		GPU: &compute.GPU{Count: 1}, DataCenterIDs: commas(value(i.DataCenterID)), Countries: texts([]*string{i.CountryCode}),
		GlobalNetworking: value(i.GlobalNetwork), TemplateID: compute.TemplateID(value(i.TemplateID)), MountPath: value(i.VolumeMountPath),
		LeastVCPUs: int64(value(i.MinVcpuCount)), LeastMemoryGB: int64(value(i.MinMemoryInGb)),
		CUDAVersions: cudaVersions(i.AllowedCudaVersions, i.CudaVersion), LeastCUDA: value(i.MinCudaVersion),
		StartSSH: i.StartSSH, MaxCost: value(i.DeployCost),
	}
	if i.GpuCount != nil {
		bad.must(*i.GpuCount >= 1, "gpuCount", "must be >= 1")
		n.GPU.Count = int64(*i.GpuCount)
	}
	if types = texts([]*string{i.GpuTypeID}); len(types) == 0 {
		types = texts(i.GpuTypeIDList)
	}
	bad.must(len(types) > 0, "gpuTypeId", "is required")
	n.DiskGB = disk(&bad, i.ContainerDiskInGb)
	n.Ports, n.Env = ports(&bad, i.Ports), env(&bad, i.Env)
	mountPath(&bad, i.VolumeMountPath)
	n.Persistent = volume(&bad, i.VolumeInGb, i.VolumeMountPath)
	n.Network = network(i.NetworkVolumeID, i.VolumeMountPath)
	for field, set := range map[string]bool{
		"minVcpuCount": n.LeastVCPUs >= 0, "minMemoryInGb": n.LeastMemoryGB >= 0, "deployCost": n.MaxCost >= 0,
	} {
		bad.must(set, field, "must be >= 0")
	}
	if err = bad.err(); err != nil {
		return n, nil, nil, err
	}
	return n, types, cloudsOf(i.CloudType), refused([]refusal{
		{"aiApiId", value(i.AiAPIID) != ""}, {"startJupyter", value(i.StartJupyter)}, {"stopAfter", i.StopAfter != nil},
		{"terminateAfter", i.TerminateAfter != nil}, {"volumeKey", value(i.VolumeKey) != ""}, {"savingsPlan", i.SavingsPlan != nil},
		{"instanceIds", len(i.InstanceIds) > 0}, {"computeType", value(i.ComputeType) == graph.ComputeTypeCPU},
	})
}

// cpuPod translates the input of deployCpuPod.
func cpuPod(i graph.DeployCPUPodInput, smallest compute.CPU) (n control.NewPod, err error) {
	var bad violations
	n = control.NewPod{
		Name: value(i.Name), Image: value(i.ImageName), Args: value(i.DockerArgs), RegistryID: compute.RegistryID(value(i.ContainerRegistryAuthID)),
		CPU: &smallest, Cloud: cloudsOf(i.CloudType)[0], DataCenterIDs: commas(value(i.DataCenterID)), Countries: texts([]*string{i.CountryCode}),
		TemplateID: compute.TemplateID(value(i.TemplateID)), StartSSH: i.StartSSH, MaxCost: value(i.DeployCost),
	}
	if n.TemplateID == defaultCPUTemplate {
		n.TemplateID = ""
	}
	if id := value(i.InstanceID); id != "" {
		cpu, ok := instance(id)
		bad.must(ok, "instanceId", "%q is not flavor-vCPUs-GB, such as cpu3g-2-8", id)
		bad.must(!ok || cpu.VCPUCount >= 2 && cpu.VCPUCount&(cpu.VCPUCount-1) == 0, "instanceId", "%d vCPUs is not a power of two from 2", cpu.VCPUCount)
		n.CPU = &cpu
	}
	n.DiskGB = disk(&bad, i.ContainerDiskInGb)
	n.Ports, n.Env = ports(&bad, i.Ports), env(&bad, i.Env)
	mountPath(&bad, i.VolumeMountPath)
	n.Network = network(i.NetworkVolumeID, i.VolumeMountPath)
	bad.must(n.MaxCost >= 0, "deployCost", "must be >= 0")
	if err = bad.err(); err != nil {
		return n, err
	}
	return n, refused([]refusal{{"startJupyter", value(i.StartJupyter)}})
}

// instance reads flavor-vCPUs-GB. The memory follows from the flavor: CreatePod refuses another one.
func instance(id string) (compute.CPU, bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 || parts[0] == "" {
		return compute.CPU{}, false
	}
	vcpus, err := strconv.ParseInt(parts[1], 10, 32)
	memory, memoryErr := strconv.ParseInt(parts[2], 10, 32)
	return compute.CPU{ID: parts[0], VCPUCount: vcpus, MemoryGB: memory}, err == nil && memoryErr == nil && vcpus >= 1 && memory >= 1
}

// podChange translates the input of podEditJob. What of a mount is absent stays as the pod has it.
func podChange(p compute.Pod, i graph.PodEditJobInput) (c control.PodChange, err error) {
	var bad violations
	bad.must(i.ImageName == nil || *i.ImageName != "", "imageName", "must not be empty")
	c = control.PodChange{Image: i.ImageName, Args: i.DockerArgs}
	if i.ContainerDiskInGb != nil {
		size := disk(&bad, i.ContainerDiskInGb)
		c.DiskGB = orNull(size)
	}
	if i.Ports != nil {
		c.Ports = append([]string{}, ports(&bad, i.Ports)...)
	}
	if i.Env != nil {
		c.Env = env(&bad, i.Env)
	}
	if id := compute.RegistryID(value(i.ContainerRegistryAuthID)); id != "" {
		c.RegistryID = &id
	}
	mountPath(&bad, i.VolumeMountPath)
	size, path := int64(value(i.VolumeInGb)), value(i.VolumeMountPath)
	switch {
	case size == 0 && path == "":
	case p.Network != nil && size == 0:
		c.Network = []compute.NetworkMount{{VolumeID: p.Network.VolumeID, Path: path}}
	case size == 0 && p.Persistent == nil:
		bad.must(false, "volumeMountPath", "the pod has no volume")
	default:
		c.Persistent = &compute.PersistentMount{SizeGB: size, Path: cmp.Or(path, defaultVolume)}
		if p.Persistent != nil {
			c.Persistent = &compute.PersistentMount{SizeGB: cmp.Or(size, p.Persistent.SizeGB), Path: cmp.Or(path, p.Persistent.Path)}
		}
		bad.must(c.Persistent.SizeGB >= minVolumeGB, "volumeInGb", "must be >= %d", minVolumeGB)
	}
	return c, bad.err()
}

// cloudsOf gives the clouds among which there is a choice.
func cloudsOf(t *graph.CloudTypeEnum) []compute.Cloud {
	switch value(t) {
	case graph.CloudTypeEnumAll:
		return []compute.Cloud{compute.Secure, compute.Community}
	case graph.CloudTypeEnumCommunity:
		return []compute.Cloud{compute.Community}
	}
	return []compute.Cloud{compute.Secure}
}

func disk(bad *violations, gb *int) int64 {
	bad.must(gb == nil || *gb >= 1, "containerDiskInGb", "must be >= 1")
	return int64(value(gb))
}

func ports(bad *violations, text *string) []string {
	list := commas(value(text))
	for _, port := range list {
		bad.must(portPattern().MatchString(port), "ports", "%q is not port/protocol with a port from 1 to 65535 and http, tcp or udp", port)
	}
	return list
}

func env(bad *violations, list []*graph.EnvironmentVariableInput) map[string]string {
	all := map[string]string{}
	for _, v := range list {
		if v == nil {
			continue
		}
		key := value(v.Key)
		_, twice := all[key]
		bad.must(key != "", "env", "a variable has no key")
		bad.must(!twice, "env", "%s is listed twice", key)
		all[key] = value(v.Value)
	}
	return all
}

func volume(bad *violations, gb *int, path *string) *compute.PersistentMount {
	if value(gb) == 0 {
		return nil
	}
	bad.must(*gb >= minVolumeGB, "volumeInGb", "must be 0 or >= %d", minVolumeGB)
	return &compute.PersistentMount{SizeGB: int64(*gb), Path: or(path, defaultVolume)}
}

func network(id, path *string) []compute.NetworkMount {
	if value(id) == "" {
		return nil
	}
	return []compute.NetworkMount{{VolumeID: compute.VolumeID(*id), Path: or(path, defaultVolume)}}
}

// refusal is a field that promises what is not done.
type refusal struct {
	field string
	set   bool
}

func refused(fields []refusal) error {
	for _, f := range fields {
		if f.set {
			return compute.Errorf(compute.Rejected, "input.%s is not served: leave it out", f.field)
		}
	}
	return nil
}
