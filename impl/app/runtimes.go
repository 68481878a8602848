package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/process"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// The runtimes that pods can run on.
const (
	RuntimeSim     = "sim"     // a simulated fleet: nothing runs
	RuntimeProcess = "process" // processes of this machine; an image is the name of an endpoint, whose command it means
	RuntimeDocker  = "docker"  // containers of a Docker Engine
)

// startRuntimes makes the runtime of the pods, and local processes for workers.
func (s *Server) startRuntimes(c Config, ids *compute.IDs) (err error) {
	commands := map[string][]string{}
	for _, e := range c.Endpoints {
		if len(e.Command) > 0 {
			commands[e.Name] = e.Command
		}
	}
	here, err := os.Getwd() // a command may name files relative to where berth was started
	if err != nil {
		return err
	}
	rules, err := processRules(c.ProcessAccept)
	if err != nil {
		return err
	}
	local := process.Config{Dir: filepath.Join(c.Data, processDir), WorkDir: here, Commands: commands, Inherit: c.ProcessEnv, Rules: rules, Output: c.WorkerOutput}
	if s.process, err = process.New(local); err != nil {
		return err
	}
	if c.Runtime != RuntimeSim && c.TestControls {
		return errors.New("the test controls need the simulated fleet: runtime must be " + RuntimeSim)
	}
	if err = s.endEarlierProcesses(c); err != nil {
		return err
	}
	switch c.Runtime {
	case RuntimeSim:
		s.fleet, s.workerSim = sim.New(c.clock), sim.New(c.clock)
		s.pods, s.workers = s.fleet, s.workerSim
		return nil
	case RuntimeProcess:
		s.workers = s.process
		s.processes = &control.Processes{Images: slices.Sorted(maps.Keys(commands)), Rules: rules}
		local.Dir, local.Output = podProcesses(c), nil
		s.pods, err = keep(process.New(local))
		return err
	case RuntimeDocker:
		owner, err := s.runtimeOwner(ids)
		if err != nil {
			return err
		}
		var publish netip.Addr
		if c.PublishOn != "" {
			if publish, err = netip.ParseAddr(c.PublishOn); err != nil {
				return fmt.Errorf("address to publish ports on: %w", err)
			}
		}
		// The engine does not live on a clock that a test has set.
		s.pods, s.workers, err = containers(docker.Config{
			Owner: owner, Host: c.DockerHost, Publish: publish, Pull: docker.PullPolicy(c.Pull), Clock: compute.SystemClock{}, Log: c.Log,
			AllowNewPrivileges: c.AllowNewPrivileges, ReachHost: true,
		})
		return err
	}
	return fmt.Errorf("runtime must be %s, %s or %s, and not %q", RuntimeSim, RuntimeProcess, RuntimeDocker, c.Runtime)
}

// processRules reads what pods and endpoints may set of processes: args, env for every variable, or env:NAME for one.
func processRules(accept []string) (r compute.ProcessRules, err error) {
	for _, word := range accept {
		name, one := strings.CutPrefix(word, "env:")
		switch {
		case word == "args":
			r.Args = true
		case word == "env":
			r.AnyEnv = true
		case one && name != "":
			r.Env = append(r.Env, name)
		default:
			return r, fmt.Errorf("what processes accept must be args, env or env:NAME, and not %q", word)
		}
	}
	return r, nil
}

// workerOwner ends the name of the owner of the workers' containers, which are not to be taken for pods.
const workerOwner = "-workers"

// pingsInALease is how often a worker that berth starts pings in a lease.
const pingsInALease = 3

// containers makes the runtimes of pods and of workers over one engine.
func containers(c docker.Config) (pods, workers runtime.Runtime, err error) {
	if pods, err = keep(docker.New(c)); err != nil {
		return nil, nil, err
	}
	c.Owner, c.ReachHost = c.Owner+workerOwner, true
	if workers, err = keep(docker.New(c)); err != nil {
		return nil, nil, errors.Join(err, pods.Close())
	}
	return pods, workers, nil
}

// podProcesses is the directory of the runtime whose processes are pods.
func podProcesses(c Config) string { return filepath.Join(c.Data, podsDir) }

// workerFleet is what the workers loop works with.
func (s *Server) workerFleet(ids *compute.IDs, login func(context.Context, compute.RegistryID) (compute.Login, error)) loop.Fleet {
	f := loop.Fleet{
		Store: s.store, Placement: s.placement, Queue: s.queue, Keyring: s.keyring, Processes: s.process, Runtime: s.workers, Simulated: s.workerSim != nil, IDs: ids,
		Clock: s.config.clock, Log: s.config.Log, URL: s.QueueURL, OuterURL: s.workerURL, Login: login,
		Ping: s.config.Lease / pingsInALease, Undeclared: func(id compute.EndpointID) bool { return !s.declares(id) },
	}
	return f
}

// workerURL is the base of the queue for pods, and for workers that are no processes of this machine: a container reaches the machine
// by the name that the engine gives it, unless the queue listens on an address of its own or there is a public one. All interfaces are
// there.
func (s *Server) workerURL() string {
	if base := cmp.Or(s.config.WorkerURL, s.config.PublicURL); base != "" {
		return strings.TrimRight(base, "/")
	}
	address, err := url.Parse(s.queueURL)
	if err != nil || s.config.Runtime != RuntimeDocker {
		return s.queueURL
	}
	if ip, err := netip.ParseAddr(address.Hostname()); err == nil && ip.IsLoopback() {
		address.Host = net.JoinHostPort(docker.HostName, address.Port())
	}
	return address.String()
}

// keep makes an interface of what was made, and nil of nothing.
func keep[R runtime.Runtime](made R, err error) (runtime.Runtime, error) {
	if err != nil {
		return nil, err
	}
	return made, nil
}

// runtimeOwner gives the name by which the data directory's containers are found again, also when it was moved.
func (s *Server) runtimeOwner(ids *compute.IDs) (string, error) {
	owner, err := s.readOwner()
	if errors.Is(err, os.ErrNotExist) {
		owner = ids.Word(12)
		err = atomicfile.Write(s.ownerFile(), []byte(owner), !s.config.Ephemeral)
	}
	return owner, err
}

func (s *Server) ownerFile() string { return filepath.Join(s.config.Data, ownerFile) }

// readOwner gives the name that a start before has made.
func (s *Server) readOwner() (string, error) {
	text, err := os.ReadFile(s.ownerFile())
	owner := strings.TrimSpace(string(text))
	if err == nil && owner == "" {
		err = fmt.Errorf("%s is empty", s.ownerFile())
	}
	return owner, err
}
