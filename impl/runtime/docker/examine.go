package docker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/moby/moby/client"
)

// Engine is what an engine says of itself.
type Engine struct {
	Host       string // its address
	Version    string
	APIVersion string // the one that is spoken with it
	System     string // operating system and architecture of its host
	Driver     string // storage driver, and the file system under it
	CPUs       int
	Memory     int64    // bytes
	GPUs       bool     // it has the NVIDIA runtime
	Limits     []string // what it cannot do for an allocation, and what it warns of
}

// Examine asks the engine at the address, with the certificates in a directory if it has some; no address is DOCKER_HOST, or the usual
// socket. The error says why there is none, and
// Host is given with it, too.
func Examine(ctx context.Context, host, certs string) (Engine, error) {
	host = addressOf(host)
	engine, err := dial(host, certs)
	if err != nil {
		return Engine{Host: host}, err
	}
	defer func() { _ = engine.Close() }()
	e := Engine{Host: cmp.Or(host, engine.DaemonHost())}
	answer, err := ask(ctx, func(ctx context.Context) (client.SystemInfoResult, error) {
		return engine.Info(ctx, client.InfoOptions{})
	})
	if err != nil {
		return e, whole(err)
	}

	info := answer.Info
	_, e.GPUs = info.Runtimes[nvidia]
	e.Version, e.APIVersion, e.CPUs, e.Memory = info.ServerVersion, engine.ClientVersion(), info.NCPU, info.MemTotal
	e.System, e.Driver = info.OperatingSystem+" "+info.Architecture, info.Driver

	for _, line := range info.DriverStatus {
		if line[0] == "Backing Filesystem" {
			e.Driver += " on " + line[1]
		}
	}

	for _, limit := range []struct {
		what string
		can  bool
	}{
		{"memory", info.MemoryLimit},
		{"CPU", info.CPUCfsQuota},
		{"the number of processes", info.PidsLimit},
		{"the size of a container disk, with " + e.Driver, limitsDisk(info)},
	} {
		if !limit.can {
			e.Limits = append(e.Limits, "does not limit "+limit.what)
		}
	}

	e.Limits = append(e.Limits, "does not limit the size of persistent mounts and network volumes")
	if !e.GPUs {
		e.Limits = append(e.Limits, fmt.Sprintf("gives no GPUs: it has no runtime %q", nvidia))
	}
	e.Limits = append(e.Limits, info.Warnings...)
	return e, nil
}
