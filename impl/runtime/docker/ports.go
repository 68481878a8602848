package docker

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// A container finds in its environment, which is set before it starts, on which ports of the host its TCP ports are: so berth
// chooses those, and not the engine.
const (
	mostReserved = 64 // TCP ports of one container that are chosen here; of further ones the engine chooses the port, unknown to the container
	portTries    = 3  // of a start: somebody else may take a port in the moment between its choice and the start
)

// reserved are ports of the host that nobody else gets until release.
type reserved struct {
	listeners []net.Listener
	ports     []compute.PublishedPort
}

// reserve takes a free port of the address for each TCP port. It gives none where the address is not one of this machine: then it is
// the engine's to know what is free.
func reserve(ports []string, address netip.Addr) (r reserved) {
	for _, text := range ports {
		number, kind, _ := strings.Cut(text, "/")
		private, err := strconv.Atoi(number)
		if kind != string(network.TCP) || err != nil || len(r.ports) == mostReserved {
			continue
		}

		l, err := net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
		if err != nil {
			r.release()
			return reserved{}
		}

		r.listeners = append(r.listeners, l)
		r.ports = append(r.ports, compute.PublishedPort{Private: private, Public: l.Addr().(*net.TCPAddr).Port, Type: kind})
	}

	return r
}

// guess chooses ports as reserve does for an engine on another machine, where nobody here knows what is free: one that is not is found
// out when the container starts, and another one is tried. They are among those that systems give away last.
func guess(ports []string, _ netip.Addr) (r reserved) {
	const first, number = 20_000, 12_000
	taken := map[int]bool{}
	for _, text := range ports {
		port, kind, _ := strings.Cut(text, "/")
		private, err := strconv.Atoi(port)
		if kind != string(network.TCP) || err != nil || len(r.ports) == mostReserved {
			continue
		}

		public := 0
		for public == 0 || taken[public] {
			public = first + rand.IntN(number) //nolint:gosec // it is no secret
		}
		taken[public] = true
		r.ports = append(r.ports, compute.PublishedPort{Private: private, Public: public, Type: kind})
	}

	return r
}

func (r reserved) release() {
	for _, l := range r.listeners {
		_ = l.Close()
	}
}

// complete gives what is to be made, with the ports of the host and the environment that names them.
func (h *Runtime) complete(o client.ContainerCreateOptions, a runtime.Allocation, ports []compute.PublishedPort) client.ContainerCreateOptions {
	config, host := *o.Config, *o.HostConfig
	config.Env = environment(a, h.publicIP(), ports)
	host.PortBindings = network.PortMap{}
	for port, bindings := range o.HostConfig.PortBindings {
		bindings = slices.Clone(bindings)
		for _, p := range ports {
			if port.Proto() == network.TCP && int(port.Num()) == p.Private {
				bindings[0].HostPort = strconv.Itoa(p.Public)
			}
		}
		host.PortBindings[port] = bindings
	}

	o.Config, o.HostConfig = &config, &host
	return o
}

// publicIP is the address that ports are published on. If that is every address, it is the one with which an engine on this machine
// goes out, or that of the engine's machine, and else unknown.
func (h *Runtime) publicIP() string {
	if !h.config.Publish.IsUnspecified() {
		return h.config.Publish.String()
	}
	if h.machine() != "" {
		return h.machineIP()
	}
	if !strings.HasPrefix(h.engine.DaemonHost(), unixScheme) {
		return ""
	}
	conn, err := net.Dial("udp", "192.0.2.1:9") // an address for documentation: the way there is looked up, and nothing is sent
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).IP.String()
}

// reached says, of a port of an allocation that the engine published, how berth reaches it where the engine is on another machine: what is published on the
// loopback is so on that of the machine, and on every address there, and not here.
func (h *Runtime) reached(p compute.PublishedPort, allocation string, bound netip.Addr) compute.PublishedPort {
	if !bound.IsValid() || bound.IsUnspecified() {
		bound = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	machine := machineOf(h.config.Host)
	switch {
	case p.Public == 0 || machine == "":
	case strings.HasPrefix(h.config.Host, sshScheme) && !h.config.DirectHTTP:
		p.Via = through(h.config.Host, allocation, netip.AddrPortFrom(bound, uint16(p.Public)))
	case bound.IsLoopback():
		p.Inner = net.JoinHostPort(machine, strconv.Itoa(p.Public))
	}
	return p
}

// machine is the name or address of the engine's machine; empty if that is this one, as an engine behind a loopback address is taken to be.
func (h *Runtime) machine() string {
	if h.config.machine != "" {
		return h.config.machine
	}
	name := machineOf(h.config.Host)
	if ip, err := netip.ParseAddr(name); name == "localhost" || err == nil && ip.IsLoopback() {
		return ""
	}
	return name
}

// machineIP is the address of the engine's machine, looked up once; empty if that is this one, or unknown.
func (h *Runtime) machineIP() string {
	name := h.machine()
	if name == "" {
		return ""
	}
	h.mu.Lock()
	known := h.address
	h.mu.Unlock()
	if known != "" {
		return known
	}

	ctx, cancel := context.WithTimeout(h.ctx, lookTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil || len(found) == 0 {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.address = found[0].Unmap().String()
	return h.address
}
