package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// find gives the allocation's container, in whatever state; ErrUnknown if there is none.
func (h *Runtime) find(ctx context.Context, id string) (container.InspectResponse, error) {
	answer, err := ask(ctx, func(ctx context.Context) (client.ContainerInspectResult, error) {
		return h.engine.ContainerInspect(ctx, h.name(id), client.ContainerInspectOptions{})
	})
	if errdefs.IsNotFound(err) {
		err = runtime.ErrUnknown
	}
	return answer.Container, err
}

// isUp reports whether the container's process runs; a paused one does.
func isUp(c container.InspectResponse) bool {
	return c.State.Running || c.State.Paused || c.State.Restarting
}

// discard removes the allocation's container with its disk.
func (h *Runtime) discard(ctx context.Context, id string) error {
	_, err := ask(ctx, func(ctx context.Context) (client.ContainerRemoveResult, error) {
		return h.engine.ContainerRemove(ctx, h.name(id), client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	})
	if errdefs.IsNotFound(err) {
		err = nil
	}
	return err
}

// abort ends a start that is on its way, and waits for that. The caller has the lock.
func (h *Runtime) abort(ctx context.Context, id string) error {
	h.mu.Lock()
	s := h.starts[id]
	h.mu.Unlock()
	if s == nil {
		return nil
	}

	s.cancel()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hush keeps the end of a container that is asked for from being reported.
func (h *Runtime) hush(c container.InspectResponse) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quiet[c.ID] = true
}

// Stop sends SIGTERM and, after grace in whole seconds, SIGKILL.
func (h *Runtime) Stop(ctx context.Context, id string, grace time.Duration) error {
	unlock, err := h.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()

	if err := h.abort(ctx, id); err != nil {
		return err
	}
	c, err := h.find(ctx, id)
	if errors.Is(err, runtime.ErrUnknown) && h.hasFailed(id) {
		return nil
	}
	if err != nil || !isUp(c) {
		return err
	}

	h.hush(c)
	defer h.seen.forget(id)
	seconds := int(math.Ceil(grace.Seconds()))
	_, err = h.engine.ContainerStop(ctx, c.ID, client.ContainerStopOptions{Timeout: &seconds})
	return fault(err)
}

// Remove kills and removes the container, and removes the volume of the persistent mount.
func (h *Runtime) Remove(ctx context.Context, id string) error {
	unlock, err := h.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()

	if err := h.removeContainer(ctx, id); err != nil {
		return err
	}
	_, err = ask(ctx, func(ctx context.Context) (client.VolumeRemoveResult, error) {
		return h.engine.VolumeRemove(ctx, h.name(id), client.VolumeRemoveOptions{})
	})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("persistent mount: %w", err)
	}
	return nil
}

// leave kills and removes the container of an allocation that is on another engine now. The data of a persistent mount stays.
func (h *Runtime) leave(ctx context.Context, id string) error {
	unlock, err := h.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	return h.removeContainer(ctx, id)
}

// removeContainer kills and removes the container, and its network with the last one. The caller has the lock.
func (h *Runtime) removeContainer(ctx context.Context, id string) error {
	if err := h.abort(ctx, id); err != nil {
		return err
	}

	c, err := h.find(ctx, id)
	switch {
	case err == nil:
		h.hush(c)
		defer h.seen.forget(id)
		if err := h.discard(ctx, id); err != nil {
			return err
		}
	case !errors.Is(err, runtime.ErrUnknown):
		return err
	}

	if c.Config != nil && c.Config.Labels[labelNetwork] != "" {
		if err := h.leaveNetwork(ctx, c.Config.Labels[labelNetwork]); err != nil {
			return fmt.Errorf("global network: %w", err)
		}
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.failed, id)
	delete(h.samples, id)
	return nil
}

func (h *Runtime) hasFailed(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, has := h.failed[id]
	return has
}

// Inspect asks the engine, unless the allocation is still being started, or was up at the last look and the engine reported no end. One whose container was made and never started,
// because berth ended in between, is unknown.
func (h *Runtime) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if err := ctx.Err(); err != nil {
		return runtime.State{}, err
	}
	h.mu.Lock()
	s, failed := h.starts[id], h.failed[id]
	fetching := s != nil && s.fetching
	h.mu.Unlock()

	switch {
	case s != nil:
		return runtime.State{Phase: runtime.Starting, Generation: s.generation, Fetching: fetching}, nil
	case failed.Phase != "":
		return failed, nil
	}

	known, up, changes := h.seen.get(id)
	if up {
		return known, nil
	}
	c, err := h.find(ctx, id)
	for err == nil && justKilled(c) {
		moment, stop := compute.SystemClock{}.After(pauseForOOM)
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-moment:
			c, err = h.find(ctx, id)
		}
		stop()
	}
	if err == nil && c.State.Status == container.StateCreated {
		err = runtime.ErrUnknown
	}
	if err != nil {
		return runtime.State{}, err
	}

	now := h.state(c)
	h.seen.put(id, now, changes)
	return now, nil
}

// An engine learns that memory ran out beside the end of the container, and on a busy machine some moments after it.
const (
	lateOOM     = time.Second            // after the end it is known, or never will be; so far may the engine's clock be ahead of ours, too
	pauseForOOM = 100 * time.Millisecond // between two looks
)

// justKilled says whether the container was killed a moment ago, and memory may have been the reason although the engine does not say so yet.
func justKilled(c container.InspectResponse) bool {
	if isUp(c) || c.State.OOMKilled || c.State.ExitCode != 128+int(syscall.SIGKILL) {
		return false
	}
	at, err := endedAt(c)
	return err == nil && compute.SystemClock{}.Wall().Sub(at).Abs() < lateOOM
}

func (h *Runtime) state(c container.InspectResponse) runtime.State {
	s := runtime.State{Phase: runtime.Up, StartedAt: startedAt(c)}
	s.Generation, _ = strconv.ParseInt(c.Config.Labels[labelGeneration], 10, 64)
	if isUp(c) {
		s.Ports = h.published(c)
		return s
	}
	s.Phase, s.ExitCode, s.OOM, s.Reason = runtime.Ended, c.State.ExitCode, c.State.OOMKilled, c.State.Error
	s.EndedAt, _ = endedAt(c)
	if s.OOM {
		s.Reason = cmp.Or(s.Reason, "it used more memory than it may")
	}
	return s
}

func startedAt(c container.InspectResponse) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, c.State.StartedAt)
	return at.UTC()
}

func endedAt(c container.InspectResponse) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, c.State.FinishedAt)
	return at.UTC(), err
}

// published gives the ports in the order in which they were asked for. They are at the address of the machine unless they have one of their own.
func (h *Runtime) published(c container.InspectResponse) (all []compute.PublishedPort) {
	address := h.machineIP()
	for text := range strings.SplitSeq(c.Config.Labels[labelPorts], ",") {
		port, err := private(text)
		if err != nil {
			continue
		}
		_, kind, _ := strings.Cut(text, "/")

		one := compute.PublishedPort{Private: int(port.Num()), Type: kind}
		if bound := c.NetworkSettings.Ports[port]; len(bound) > 0 {
			one.Public, _ = strconv.Atoi(bound[0].HostPort)
			one.IP = address
			if ip := bound[0].HostIP; ip.IsValid() && !ip.IsUnspecified() {
				one.IP = ip.String()
			}
			one = h.reached(one, c.Config.Labels[labelAllocation], bound[0].HostIP)
		}

		all = append(all, one)
	}

	return all
}

// List gives the allocations of this owner of which there is a container or a persistent mount, and those that are being
// started or could not be.
func (h *Runtime) List(ctx context.Context) ([]string, error) {
	containers, err := ask(ctx, func(ctx context.Context) (client.ContainerListResult, error) {
		return h.engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: h.label()})
	})
	if err != nil {
		return nil, err
	}

	volumes, err := ask(ctx, func(ctx context.Context) (client.VolumeListResult, error) {
		return h.engine.VolumeList(ctx, client.VolumeListOptions{Filters: h.label().Add("label", labelAllocation)})
	})
	if err != nil {
		return nil, err
	}

	ids, up := map[string]bool{}, map[string]bool{}
	for _, c := range containers.Items {
		if id := c.Labels[labelAllocation]; slices.Contains(c.Names, "/"+h.name(id)) { // else the labels are those of its image
			ids[id] = true
			up[id] = c.State == container.StateRunning
		}
	}
	h.seen.retain(up)
	for _, v := range volumes.Items {
		ids[v.Labels[labelAllocation]] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.starts {
		ids[id] = true
	}
	for id := range h.failed {
		ids[id] = true
	}

	return slices.Sorted(maps.Keys(ids)), nil
}

// Volumes gives the network volumes of the owner of volumes.
func (h *Runtime) Volumes(ctx context.Context) (ids []compute.VolumeID, err error) {
	volumes, err := ask(ctx, func(ctx context.Context) (client.VolumeListResult, error) {
		return h.engine.VolumeList(ctx, client.VolumeListOptions{
			Filters: make(client.Filters).Add("label", labelOwner+"="+h.config.Volumes, labelVolume),
		})
	})
	for _, v := range volumes.Items {
		ids = append(ids, compute.VolumeID(v.Labels[labelVolume]))
	}
	return ids, err
}

// RemoveVolume removes the engine's volume.
func (h *Runtime) RemoveVolume(ctx context.Context, id compute.VolumeID) error {
	_, err := ask(ctx, func(ctx context.Context) (client.VolumeRemoveResult, error) {
		return h.engine.VolumeRemove(ctx, h.volumeName(string(id)), client.VolumeRemoveOptions{})
	})
	if errdefs.IsNotFound(err) {
		err = nil
	}
	return err
}
