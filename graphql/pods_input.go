package graphql

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
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

// What REST has for a version of CUDA, for a whole number of one, and for a country.
var (
	cudaPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\.[0-9]+$`) })
	wholePattern   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+$`) })
	countryPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{2}$`) })
)

// mountPath notes a path at which nothing can be mounted, whether something is or not. Null and empty text are none.
func mountPath(bad *violations, field string, path *string) {
	bad.must(value(path) == "" || mountPattern().MatchString(*path), field, "must be an absolute path and not /, without . and .. as a part, colons and control characters")
}

// gpuPod translates the input of podFindAndDeployOnDemand, with the GPU types and clouds among which there is a choice.
func gpuPod(i *graph.PodFindAndDeployOnDemandInput) (n control.NewPod, types []string, clouds []compute.Cloud, err error) {
	var bad violations
	n = control.NewPod{
		Name: value(i.Name), Image: value(i.ImageName), Args: value(i.DockerArgs), RegistryID: compute.RegistryID(value(i.ContainerRegistryAuthID)),
		GPU: &compute.GPU{Count: 1}, DataCenterIDs: append(commas(value(i.DataCenterID)), texts(i.DataCenterIds)...),
		GlobalNetworking: value(i.GlobalNetwork), TemplateID: compute.TemplateID(value(i.TemplateID)), MountPath: value(i.VolumeMountPath),
		StartSSH: i.StartSSH, MaxCost: cost(&bad, i.DeployCost), StopAfter: value(i.StopAfter), TerminateAfter: value(i.TerminateAfter),
		Needs: needs(&bad, leasts{
			"minVcpuCount": i.MinVcpuCount, "minMemoryInGb": i.MinMemoryInGb, "minDisk": i.MinDisk, "minDownload": i.MinDownload, "minUpload": i.MinUpload,
		}, i.CountryCode, i.Compliance, i.SupportPublicIP),
	}

	n.CUDAVersions, n.LeastCUDA = cudaVersions(&bad, i.AllowedCudaVersions, i.CudaVersion, i.MinCudaVersion)
	if i.GpuCount != nil {
		bad.must(*i.GpuCount >= 1, "gpuCount", "must be >= 1")
		n.GPU.Count = int64(*i.GpuCount)
	}
	types = append(texts([]*string{i.GpuTypeID}), texts(i.GpuTypeIDList)...)
	bad.must(len(types) > 0, "gpuTypeId", "is required")
	n.DiskGB = disk(&bad, i.ContainerDiskInGb)
	n.Ports, n.Env = ports(&bad, i.Ports), env(&bad, i.Env)
	mountPath(&bad, "volumeMountPath", i.VolumeMountPath)
	n.Persistent = volume(&bad, i.VolumeInGb, i.VolumeMountPath)
	n.Network, err = network(&bad, i.NetworkVolumeID, i.VolumeMountPath, i.VolumeMounts)
	if err = cmp.Or(bad.err(), err); err != nil {
		return n, nil, nil, err
	}

	return n, types, cloudsOf(i.CloudType), refused([]refusal{
		{"port", i.Port != nil && *i.Port != ""}, {"aiApiId", value(i.AiAPIID) != ""}, {"startJupyter", value(i.StartJupyter)},
		{"volumeKey", value(i.VolumeKey) != ""}, {"savingsPlan", i.SavingsPlan != nil},
		{"instanceIds", len(i.InstanceIds) > 0}, {"computeType", value(i.ComputeType) == graph.ComputeTypeCPU},
	})
}

// interruptiblePod translates the input of podRentInterruptable as gpuPod does, with the bid.
func interruptiblePod(i graph.PodRentInterruptableInput) (n control.NewPod, types []string, clouds []compute.Cloud, err error) {
	var bad violations
	bad.must(i.BidPerGpu != nil, "bidPerGpu", "is required")
	bad.must(i.BidPerGpu == nil || *i.BidPerGpu > 0, "bidPerGpu", "must be > 0")
	if err := bad.err(); err != nil {
		return n, nil, nil, err
	}

	n, types, clouds, err = gpuPod(&graph.PodFindAndDeployOnDemandInput{
		CloudType: i.CloudType, GpuCount: i.GpuCount, GpuTypeID: i.GpuTypeID, Name: i.Name, ImageName: i.ImageName, DockerArgs: i.DockerArgs,
		Ports: i.Ports, Env: i.Env, ContainerDiskInGb: i.ContainerDiskInGb, VolumeInGb: i.VolumeInGb, VolumeMountPath: i.VolumeMountPath,
		NetworkVolumeID: i.NetworkVolumeID, VolumeMounts: i.VolumeMounts, DataCenterID: i.DataCenterID, DataCenterIds: i.DataCenterIds,
		ContainerRegistryAuthID: i.ContainerRegistryAuthID, TemplateID: i.TemplateID, MinVcpuCount: i.MinVcpuCount, MinMemoryInGb: i.MinMemoryInGb,
		CudaVersion: i.CudaVersion, MinCudaVersion: i.MinCudaVersion, AllowedCudaVersions: i.AllowedCudaVersions, StartSSH: i.StartSSH,
		SupportPublicIP: i.SupportPublicIP, CountryCode: i.CountryCode, MinDisk: i.MinDisk, MinDownload: i.MinDownload, MinUpload: i.MinUpload,
		Compliance: i.Compliance, StopAfter: i.StopAfter, TerminateAfter: i.TerminateAfter, Port: i.Port, StartJupyter: i.StartJupyter,
		VolumeKey: i.VolumeKey,
	})
	n.BidPerGPU = *i.BidPerGpu
	return n, types, clouds, err
}

// cpuPod translates the input of deployCpuPod.
func cpuPod(i graph.DeployCPUPodInput, smallest compute.CPU) (n control.NewPod, err error) {
	var bad violations
	n = control.NewPod{
		Name: value(i.Name), Image: value(i.ImageName), Args: value(i.DockerArgs), RegistryID: compute.RegistryID(value(i.ContainerRegistryAuthID)),
		CPU: &smallest, Cloud: cloudsOf(i.CloudType)[0], DataCenterIDs: append(commas(value(i.DataCenterID)), texts(i.DataCenterIds)...),
		TemplateID: compute.TemplateID(value(i.TemplateID)), StartSSH: i.StartSSH, MaxCost: cost(&bad, i.DeployCost),
		StopAfter: value(i.StopAfter), TerminateAfter: value(i.TerminateAfter),
		Needs: needs(&bad, leasts{"minDownload": i.MinDownload, "minUpload": i.MinUpload}, i.CountryCode, i.Compliance, i.SupportPublicIP),
	}
	if n.TemplateID == defaultCPUTemplate {
		n.TemplateID = ""
	}

	if id := value(i.InstanceID); id != "" {
		cpu, ok := instance(id)
		bad.must(ok, "instanceId", "%q is not flavor-vCPUs-GB, such as cpu3g-2-8", id)
		bad.must(!ok || cpu.VCPUCount&(cpu.VCPUCount-1) == 0, "instanceId", "%d vCPUs is not a power of two", cpu.VCPUCount)
		n.CPU = &cpu
	}

	n.DiskGB = disk(&bad, i.ContainerDiskInGb)
	n.Ports, n.Env = ports(&bad, i.Ports), env(&bad, i.Env)
	mountPath(&bad, "volumeMountPath", i.VolumeMountPath)
	n.Network, err = network(&bad, i.NetworkVolumeID, i.VolumeMountPath, i.VolumeMounts)
	if err = cmp.Or(bad.err(), err); err != nil {
		return n, err
	}

	return n, refused([]refusal{{"startJupyter", value(i.StartJupyter)}})
}

// leasts are the minima of an input by their fields.
type leasts map[string]*int

// needs reads what an input asks of the host.
func needs(bad *violations, least leasts, country *string, standards []*graph.Compliance, publicIP *bool) control.Needs {
	for _, field := range slices.Sorted(maps.Keys(least)) {
		bad.must(value(least[field]) >= 0, field, "must be >= 0")
	}
	bad.must(value(country) == "" || countryPattern().MatchString(*country), "countryCode", "%q is not a country in two capital letters", value(country))
	of := func(field string) int64 { return int64(value(least[field])) }
	return control.Needs{
		LeastVCPUs: of("minVcpuCount"), LeastMemoryGB: of("minMemoryInGb"), LeastDiskGB: of("minDisk"), DownloadMbps: of("minDownload"), UploadMbps: of("minUpload"),
		Countries: texts([]*string{country}), Compliance: words(standards), PublicIP: value(publicIP),
	}
}

// cudaVersions reads the versions of CUDA of which the host must have one, and the one that it must have or a later one. That one may
// lack its minor number, as in REST's filters.
func cudaVersions(bad *violations, list []*string, one, least *string) ([]string, string) {
	all := texts(list)
	for _, version := range all {
		cudaVersion(bad, "allowedCudaVersions", version)
	}
	if value(one) != "" {
		cudaVersion(bad, "cudaVersion", *one)
		all = append(all, *one)
	}

	if from := value(least); from != "" && !wholePattern().MatchString(from) {
		cudaVersion(bad, "minCudaVersion", from)
	}
	return all, value(least)
}

// cudaVersion notes a text that is no version of CUDA: no host has it, and it would be refused as if there were no room.
func cudaVersion(bad *violations, field, version string) {
	bad.must(cudaPattern().MatchString(version), field, "%q is not a version like 12.8", version)
}

// words gives the words of a list that are there.
func words[T ~string](list []*T) (all []string) {
	for _, word := range list {
		if value(word) != "" {
			all = append(all, string(*word))
		}
	}
	return all
}

// cost reads a bound in USD an hour.
func cost(bad *violations, most *float64) float64 {
	bad.must(value(most) >= 0, "deployCost", "must be >= 0")
	return value(most)
}

// instance reads flavor-vCPUs-GB. The memory follows from the flavor: CreatePod refuses another one.
func instance(id string) (compute.CPU, bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 || parts[0] == "" {
		return compute.CPU{}, false
	}
	vcpus, err := strconv.ParseInt(parts[1], 10, 32)
	memory, memoryErr := strconv.ParseInt(parts[2], 10, 32)
	cpu := compute.CPU{ID: parts[0], VCPUCount: vcpus, MemoryGB: memory}
	return cpu, err == nil && memoryErr == nil && vcpus >= 1 && memory >= 1 && *instanceID(cpu) == id
}

// podChange translates the input of podEditJob.
func podChange(i graph.PodEditJobInput) (c control.PodChange, err error) {
	var bad violations
	c = control.PodChange{Image: orNull(value(i.ImageName)), Args: i.DockerArgs, MountPath: orNull(value(i.VolumeMountPath))}
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
	mountPath(&bad, "volumeMountPath", i.VolumeMountPath)
	if asked := volume(&bad, i.VolumeInGb, i.VolumeMountPath); asked != nil {
		c.PersistentGB = &asked.SizeGB
	}

	if err = bad.err(); err != nil {
		return c, err
	}
	return c, refused([]refusal{{"port", i.Port != nil && *i.Port != ""}})
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
		bad.must(key != "", "env", "a variable has no key")
		all[key] = value(v.Value) // the last one counts, as in the environment of a program
	}
	return all
}

// volume reads a persistent mount: nil without a size. One that is smaller than there are is made as small as there are, since
// a client asks for 1 GB by default (rule graphql.deploy.volume.least).
func volume(bad *violations, gb *int, path *string) *compute.PersistentMount {
	if value(gb) == 0 {
		return nil
	}
	bad.must(*gb >= 0, "volumeInGb", "must be >= 0")
	return &compute.PersistentMount{SizeGB: int64(max(*gb, minVolumeGB)), Path: or(path, defaultVolume)}
}

// network reads the network volumes, those of volumeMounts in place of the one of the other two fields.
func network(bad *violations, id, path *string, mounts []*graph.PodVolumeMountInput) (all []compute.NetworkMount, err error) {
	if value(id) != "" {
		all = append(all, compute.NetworkMount{VolumeID: compute.VolumeID(*id), Path: or(path, defaultVolume)})
	}
	for _, m := range mounts {
		if m == nil {
			continue
		}
		bad.must(value(m.VolumeID) != "", "volumeMounts", "a mount has no volumeId")
		mountPath(bad, "volumeMounts.mountPath", m.MountPath)
		err = cmp.Or(err, checkVolumeType(m.VolumeType))
		all = append(all, compute.NetworkMount{VolumeID: compute.VolumeID(value(m.VolumeID)), Path: or(m.MountPath, defaultVolume)})
	}
	if err == nil && len(all) > 1 {
		err = compute.Errorf(compute.Rejected, "input.volumeMounts: a pod mounts one network volume, not %d", len(all))
	}

	return all, err
}

// checkVolumeType refuses volumes of a pod that are no network volumes.
func checkVolumeType(t *graph.VolumeType) error {
	return refused([]refusal{{"volumeMounts.volumeType " + string(value(t)), value(t) != "" && *t != graph.VolumeTypeNetworkVolume}})
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
