package docker

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// What the engine keeps of a container's output: so many files of so many bytes.
const (
	logFiles = "3"
	logBytes = "10m"
)

// HostName is the name by which a container reaches the machine that the engine runs on, if Config.ReachHost is set.
const HostName = "host.docker.internal"

// noGPU hides the GPUs from a container, which an engine whose default is the NVIDIA runtime would show.
const (
	envGPUs = "NVIDIA_VISIBLE_DEVICES"
	noGPU   = "void"
)

// nvidia is the runtime that an engine needs to give GPUs to containers.
const nvidia = "nvidia"

// plan is what is made for an allocation.
type plan struct {
	container client.ContainerCreateOptions
	volumes   []client.VolumeCreateOptions
	link      *runtime.Link // nil: none
}

// plan works out what is to be made, and refuses what the engine cannot run.
func (h *Runtime) plan(a runtime.Allocation, info system.Info) (plan, error) {
	command, err := args.Parse(a.Args)
	if err != nil {
		return plan{}, err
	}
	if _, err := reference.ParseNormalizedNamed(a.Image); err != nil {
		return plan{}, fmt.Errorf("image %q: %w", a.Image, err)
	}
	if _, has := info.Runtimes[nvidia]; !a.GPUs.None() && !has {
		return plan{}, fmt.Errorf("%w: the engine has no runtime %q", runtime.ErrNoGPU, nvidia)
	}

	exposed, bound, err := publish(a.Ports, h.config.Publish)
	if err != nil {
		return plan{}, err
	}
	labels := maps.Clone(a.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		labelOwner: h.config.Owner, labelAllocation: a.ID, labelGeneration: strconv.FormatInt(a.Generation, 10), labelPorts: strings.Join(a.Ports, ","),
		labelNetwork: "", // whatever the image says of itself
	})

	mounts, volumes := h.mounts(a)
	host := &container.HostConfig{
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": logBytes, "max-file": logFiles}},
		PortBindings:  bound,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		Mounts:        mounts,
		Resources:     resources(a, info),
	}

	if !h.config.AllowNewPrivileges {
		host.SecurityOpt = []string{"no-new-privileges"}
	}
	if h.config.ReachHost {
		host.ExtraHosts = []string{HostName + ":host-gateway"}
	}
	if a.DiskGB > 0 && h.limitsDisk(info) {
		host.StorageOpt = map[string]string{"size": strconv.FormatInt(a.DiskGB, 10) + "G"}
	}

	p := plan{link: a.Link, volumes: volumes, container: client.ContainerCreateOptions{
		Name: h.name(a.ID),
		Config: &container.Config{
			Image: a.Image, Entrypoint: command.Entrypoint, Cmd: command.Words, Hostname: a.Hostname, ExposedPorts: exposed, Labels: labels,
		},
		HostConfig: host,
	}}

	if a.Link != nil {
		h.join(&p.container, a.Link)
	}
	return p, nil
}

// name is that of an allocation's container, and of the volume of its persistent mount.
func (h *Runtime) name(id string) string { return "berth-" + h.config.Owner + "-" + id }

func (h *Runtime) volumeName(id string) string { return "berth-" + h.config.Volumes + "-volume-" + id }

// environment is the allocation's, with where it is reached; what it says of GPUs is not heeded.
func environment(a runtime.Allocation, ip string, ports []compute.PublishedPort) []string {
	env := maps.Clone(a.Env)
	delete(env, envGPUs)
	if a.GPUs.None() {
		if env == nil {
			env = map[string]string{}
		}
		env[envGPUs] = noGPU
	}
	a.Env = env
	return a.Variables(ip, ports)
}

// resources are the limits. More vCPUs than the engine has are no limit, and it would refuse them.
func resources(a runtime.Allocation, info system.Info) container.Resources {
	r := container.Resources{Memory: a.MemoryBytes, MemorySwap: a.MemoryBytes, NanoCPUs: min(a.VCPUs, int64(info.NCPU)) * 1e9}
	if a.Pids > 0 {
		r.PidsLimit = &a.Pids
	}
	if !a.GPUs.None() {
		gpus := container.DeviceRequest{DeviceIDs: a.GPUs.Devices, Capabilities: [][]string{{"gpu"}}}
		if len(a.GPUs.Devices) == 0 {
			gpus.Count = a.GPUs.Number()
		}
		r.DeviceRequests = []container.DeviceRequest{gpus}
	}
	return r
}

func (h *Runtime) mounts(a runtime.Allocation) (mounts []mount.Mount, volumes []client.VolumeCreateOptions) {
	add := func(owner, name, path, label, value string) {
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Source: name, Target: path})
		volumes = append(volumes, client.VolumeCreateOptions{Name: name, Labels: map[string]string{labelOwner: owner, label: value}})
	}
	if a.Persistent != nil {
		add(h.config.Owner, h.name(a.ID), a.Persistent.Path, labelAllocation, a.ID)
	}
	if a.Network != nil {
		add(h.config.Volumes, h.volumeName(string(a.Network.VolumeID)), a.Network.Path, labelVolume, string(a.Network.VolumeID))
	}
	return mounts, volumes
}

// publish binds each port to one of the host's that is free.
func publish(ports []string, address netip.Addr) (network.PortSet, network.PortMap, error) {
	exposed, bound := network.PortSet{}, network.PortMap{}
	for _, text := range ports {
		port, err := private(text)
		if err != nil {
			return nil, nil, fmt.Errorf("port %q: %w", text, err)
		}
		exposed[port] = struct{}{}
		bound[port] = []network.PortBinding{{HostIP: address}}
	}
	return exposed, bound, nil
}

// private reads port/protocol, where http is TCP.
func private(text string) (network.Port, error) {
	number, kind, _ := strings.Cut(text, "/")
	if kind == "http" {
		kind = string(network.TCP)
	}
	return network.ParsePort(number + "/" + kind)
}

// limitsDisk reports whether the engine's storage driver can limit the size of a container's disk.
func (h *Runtime) limitsDisk(info system.Info) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.noSizes && limitsDisk(info)
}

func limitsDisk(info system.Info) bool {
	switch info.Driver {
	case "btrfs", "zfs", "windowsfilter":
		return true
	case "overlay2":
		return slices.Contains(info.DriverStatus, [2]string{"Backing Filesystem", "xfs"})
	}
	return false
}
