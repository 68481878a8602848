package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

// networkName is that of the engine's network for the subnet of a link.
func (h *Runtime) networkName(l *runtime.Link) string {
	return "berth-" + h.config.Owner + "-net-" + strings.NewReplacer(".", "-", ":", "-").Replace(l.Subnet.Addr().String())
}

// join puts the container into the network of its link, and into no other.
func (h *Runtime) join(o *client.ContainerCreateOptions, l *runtime.Link) {
	name := h.networkName(l)
	o.Config.Labels[labelNetwork] = name
	o.HostConfig.NetworkMode = container.NetworkMode(name)
	o.NetworkingConfig = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
		name: {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: l.Address}, Aliases: []string{l.Name}},
	}}
}

// makeNetwork makes sure that the network of the link is there. The caller has h.networks for reading, until its container is
// in the network.
func (h *Runtime) makeNetwork(ctx context.Context, l *runtime.Link) error {
	name := h.networkName(l)
	_, err := ask(ctx, func(ctx context.Context) (client.NetworkInspectResult, error) {
		return h.engine.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	})
	if err == nil || !errdefs.IsNotFound(err) {
		return err
	}

	_, err = ask(ctx, func(ctx context.Context) (client.NetworkCreateResult, error) {
		return h.engine.NetworkCreate(ctx, name, client.NetworkCreateOptions{
			Driver: "bridge", Labels: map[string]string{labelOwner: h.config.Owner},
			IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: l.Subnet, Gateway: l.Subnet.Addr().Next()}}},
		})
	})
	if errdefs.IsConflict(err) { // somebody else made it meanwhile
		err = nil
	}
	if err != nil {
		return fmt.Errorf("global network %s: %w", l.Subnet, err)
	}

	return nil
}

// Sweep removes the networks in which no container is.
func (h *Runtime) Sweep(ctx context.Context) error {
	networks, err := ask(ctx, func(ctx context.Context) (client.NetworkListResult, error) {
		return h.engine.NetworkList(ctx, client.NetworkListOptions{Filters: h.label()})
	})
	for _, n := range networks.Items {
		if leaveErr := h.leaveNetwork(ctx, n.Name); leaveErr != nil {
			err = leaveErr
		}
	}
	return err
}

// leaveNetwork removes a network, unless another container is up in it. Those that are stopped make it again when they start.
func (h *Runtime) leaveNetwork(ctx context.Context, name string) error {
	h.networks.Lock()
	defer h.networks.Unlock()
	_, err := ask(ctx, func(ctx context.Context) (client.NetworkRemoveResult, error) {
		return h.engine.NetworkRemove(ctx, name, client.NetworkRemoveOptions{})
	})
	if errdefs.IsNotFound(err) || errdefs.IsPermissionDenied(err) {
		err = nil
	}
	return err
}
