package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// The settings.
const (
	hostSetting       = "docker-host"
	pullSetting       = "pull"
	publishSetting    = "publish-on"
	directSetting     = "direct-http"
	privilegesSetting = "allow-new-privileges"
	certsSetting      = "docker-certs"
	timeoutSetting    = "engine-timeout"
	querySetting      = "gpu-query-image"
)

// examineTime is how long an examination of the engine may take.
const examineTime = 10 * time.Second

// workersOwner ends the name of the owner of workers' containers, which are not to be taken for pods.
const workersOwner = "-workers"

func init() {
	can := compute.AllCapabilities
	can.HostName = HostName

	runtime.Register(runtime.Kind{
		Name: "docker", Summary: "a container of a Docker Engine, which outlives berth and is taken up again by it", Can: can,
		Settings: []setting.Setting{
			{Name: hostSetting, Option: "DockerHost", Help: "address of the Docker Engine; without it DOCKER_HOST, or the usual socket"},
			{
				Name: pullSetting, Option: "Pull", Default: string(PullIfAbsent), Choices: []string{string(PullIfAbsent), string(PullAlways), string(PullNever)},
				Help: "when docker pulls images: if-absent, always or never",
			},
			{
				Name: publishSetting, Option: "PublishOn", Default: "127.0.0.1", Help: "address of this host that docker publishes the ports of pods on",
				Check: func(address string) error {
					_, err := netip.ParseAddr(address)
					return err
				},
			},
			{
				Name: directSetting, Option: "DirectHTTP", Kind: setting.Switch,
				Help: "reach HTTP ports of pods whose engine is at ssh://… at the address of its machine, and not by SSH",
			},
			{Name: certsSetting, Option: "DockerCerts", Help: "directory with ca.pem, cert.pem and key.pem for engines of hosts over TCP, or with one directory of each host's id that has them"},
			{
				Name: timeoutSetting, Option: "EngineTimeout", Kind: setting.Duration, Default: defaultLostAfter.String(),
				Help: "how long an engine may give no answer before its host is lost: its pods become ERROR, and its jobs go back to the queue",
				Check: func(value string) error {
					if d, err := time.ParseDuration(value); err != nil || d < lookTick {
						return fmt.Errorf("must be at least %s", lookTick)
					}
					return nil
				},
			},
			{Name: querySetting, Option: "GPUQueryImage", Default: defaultQueryImage, Help: "image in which nvidia-smi is run on a host's engine, if the file of the fleet does not say what the host has"},
			{Name: privilegesSetting, Option: "AllowNewPrivileges", Kind: setting.Switch, Help: "let programs in containers gain privileges, by sudo and the like"},
		},
		Open: open, OpenEarlier: openEarlier, Doctor: doctor,
		Address: func(v setting.Values) (string, error) { return Address(v.Text(hostSetting)) },
		CheckEngine: func(v setting.Values, e runtime.Engine) error {
			return checkEngine(e.Address, certsOf(v.Text(certsSetting), e.HostID))
		},
		DoctorEngine: func(ctx context.Context, v setting.Values, e runtime.Engine) runtime.Report {
			return examined(ctx, e.Address, certsOf(v.Text(certsSetting), e.HostID))
		},
	})
}

// open makes the runtimes of pods and of workers over the engine of the settings.
func open(_ context.Context, c runtime.Config) (o runtime.Opened, err error) {
	v := c.Values
	config := FleetConfig{
		Config: Config{
			Host: v.Text(hostSetting), Pull: PullPolicy(v.Text(pullSetting)), AllowNewPrivileges: v.On(privilegesSetting), ReachHost: true, Log: c.Log,
			DirectHTTP: v.On(directSetting),
		},
		Certs: v.Text(certsSetting), QueryImage: v.Text(querySetting),
	}
	config.LostAfter, _ = time.ParseDuration(v.Text(timeoutSetting)) // it was checked
	if address := v.Text(publishSetting); address != "" {
		if config.Publish, err = netip.ParseAddr(address); err != nil {
			return o, fmt.Errorf("address to publish ports on: %w", err)
		}
	}
	return both(c, config)
}

// openEarlier makes the runtimes of pods and of workers over an engine that an earlier server used.
func openEarlier(c runtime.Config, address string) (runtime.Opened, error) {
	return both(c, FleetConfig{Config: Config{Host: address, ReachHost: true, Log: c.Log}})
}

func both(c runtime.Config, config FleetConfig) (o runtime.Opened, err error) {
	if config.Owner, err = c.Owner(); err != nil {
		return o, err
	}
	config.Clock = compute.SystemClock{} // the engine does not live on a clock that a test has set
	pods, err := NewFleet(config)
	if err != nil {
		return o, err
	}

	config.Volumes = config.Owner // pods and workers share them
	config.Owner += workersOwner
	workers, err := NewFleet(config)
	if err != nil {
		return o, errors.Join(err, pods.Close())
	}
	return runtime.Opened{Pods: pods, Workers: workers}, nil
}

func doctor(ctx context.Context, v setting.Values) runtime.Report {
	return examined(ctx, v.Text(hostSetting), "")
}

func examined(ctx context.Context, address, certs string) runtime.Report {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	e, err := Examine(ctx, address, certs)
	if err != nil {
		return runtime.Report{Detail: err.Error()}
	}
	return runtime.Report{
		Available: true, Warnings: e.Limits,
		Detail: fmt.Sprintf("engine %s, API %s, at %s: %s, %d CPUs, %.1f GB, %s", e.Version, e.APIVersion, e.Host, e.System, e.CPUs, float64(e.Memory)/1e9, e.Driver),
	}
}
