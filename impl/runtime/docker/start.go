package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

// start is a start that is on its way.
type start struct {
	generation int64
	fetching   bool // its image is being brought here; guarded by the runtime's mu
	cancel     context.CancelFunc
	done       chan struct{} // closed once it has come to an end
}

// Start refuses what cannot run here, then pulls the image if need be and starts a container, while the caller goes on. If
// the engine goes away meanwhile, the start goes on when it is back.
func (h *Runtime) Start(ctx context.Context, a runtime.Allocation) error {
	unlock, err := h.locks.Lock(ctx, a.ID)
	if err != nil {
		return err
	}
	defer unlock()

	if err := ctx.Err(); err != nil {
		return err
	}
	h.mu.Lock()
	closed, starting := h.closed, h.starts[a.ID] != nil
	h.mu.Unlock()

	switch {
	case closed:
		return errClosed
	case starting:
		return nil
	}

	c, err := h.find(ctx, a.ID)
	if err != nil && !errors.Is(err, runtime.ErrUnknown) {
		return err
	}
	if err == nil && isUp(c) {
		return nil
	}

	info, err := h.info(ctx)
	if err != nil {
		return err
	}
	p, err := h.plan(a, info)
	if err != nil {
		return err
	}

	return h.begin(a, p)
}

// begin lets a goroutine of its own carry out the plan.
func (h *Runtime) begin(a runtime.Allocation, p plan) error {
	ctx, cancel := context.WithCancel(h.ctx)
	s := &start{generation: a.Generation, cancel: cancel, done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		cancel()
		return errClosed
	}

	delete(h.failed, a.ID)
	delete(h.samples, a.ID)
	h.starts[a.ID] = s
	h.seen.forget(a.ID)
	h.work.Go(func() {
		defer cancel()
		err := h.carryOut(ctx, a, p)
		h.mu.Lock()
		delete(h.starts, a.ID)
		if err != nil && h.ctx.Err() == nil {
			h.failed[a.ID] = runtime.State{Phase: runtime.Ended, Generation: a.Generation, ExitCode: -1, Reason: err.Error()}
		}
		h.mu.Unlock()
		close(s.done)
		if err != nil && ctx.Err() == nil {
			h.config.Log.Warn("container could not be started", "allocation", a.ID, "image", a.Image, "error", err)
			h.ends.Add(a.ID)
		}
	})

	return nil
}

// carryOut tries until it is done, fails or ctx ends; only an engine that does not answer is asked again.
func (h *Runtime) carryOut(ctx context.Context, a runtime.Allocation, p plan) error {
	for {
		err := h.try(ctx, a, p)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return errors.New("it was stopped before it came up")
		case !errors.Is(err, runtime.ErrUnavailable):
			return err
		}
		h.wait(ctx)
	}
}

// wait pauses before the engine is asked again.
func (h *Runtime) wait(ctx context.Context) {
	after, stop := h.config.Clock.After(pause)
	defer stop()
	select {
	case <-after:
	case <-ctx.Done():
	}
}

// try leaves either a container that was started or none. Once the image is there it does not heed the end of ctx: the engine
// would go on with a call that nobody waits for.
func (h *Runtime) try(ctx context.Context, a runtime.Allocation, p plan) error {
	c, err := h.find(ctx, a.ID)
	switch {
	case err == nil && isUp(c): // by a try whose answer was lost
		return nil
	case err != nil && !errors.Is(err, runtime.ErrUnknown):
		return err
	}

	if err := h.pull(ctx, a); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	whole := context.WithoutCancel(ctx)
	for _, v := range p.volumes {
		if _, err := ask(whole, func(ctx context.Context) (client.VolumeCreateResult, error) { return h.engine.VolumeCreate(ctx, v) }); err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
	}

	if err := h.discard(whole, a.ID); err != nil {
		return err
	}
	if p.link != nil {
		h.networks.RLock()
		defer h.networks.RUnlock()
		if err := h.makeNetwork(whole, p.link); err != nil {
			return err
		}
	}

	for tries := portTries; ; tries-- {
		ports := h.reserve(a.Ports, h.config.Publish)
		err := h.launch(ctx, a, p, ports)
		if len(ports.ports) == 0 || !errdefs.IsInternal(err) || tries == 1 {
			return err
		}
	}
}

// launch makes the container and starts it; one that does not start is removed. Of the calls only that which sends the artifact heeds the end
// of ctx.
func (h *Runtime) launch(ctx context.Context, a runtime.Allocation, p plan, ports reserved) error {
	defer ports.release()
	whole := context.WithoutCancel(ctx)
	container := h.complete(p.container, a, ports.ports)
	err := h.create(whole, container)
	if errdefs.IsConflict(err) { // the engine made it just now, for a call of a berth that was killed
		if err = h.discard(whole, a.ID); err == nil {
			err = h.create(whole, container)
		}
	}
	if err != nil {
		return err
	}

	if err = h.giveArtifact(ctx, a); err == nil {
		ports.release()
		_, err = ask(whole, func(ctx context.Context) (client.ContainerStartResult, error) {
			return h.engine.ContainerStart(ctx, h.name(a.ID), client.ContainerStartOptions{})
		})
	}

	if err != nil && !errors.Is(err, runtime.ErrUnavailable) {
		if err := h.discard(whole, a.ID); err != nil {
			h.config.Log.Warn("container that did not start could not be removed", "allocation", a.ID, "error", err)
		}
	}

	return err
}

// create makes the container. An engine that cannot limit its disk after all makes it without that limit.
func (h *Runtime) create(ctx context.Context, o client.ContainerCreateOptions) error {
	made := func() error {
		_, err := ask(ctx, func(ctx context.Context) (client.ContainerCreateResult, error) {
			return h.engine.ContainerCreate(ctx, o)
		})
		return err
	}

	err := made()
	if err == nil || len(o.HostConfig.StorageOpt) == 0 || errors.Is(err, runtime.ErrUnavailable) || errdefs.IsConflict(err) {
		return err
	}
	o.HostConfig.StorageOpt = nil
	if err := made(); err != nil {
		return err
	}

	h.config.Log.Warn("the engine cannot limit the container disk", "error", err)
	h.mu.Lock()
	h.noSizes = true
	h.mu.Unlock()
	return nil
}

// noteFetching notes whether the image of an allocation that is being started is being brought here.
func (h *Runtime) noteFetching(id string, is bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.starts[id]; s != nil {
		s.fetching = is
	}
}

// pull makes sure that the image is there. One whose pull was cut off is still being fetched: the next try goes on with it.
func (h *Runtime) pull(ctx context.Context, a runtime.Allocation) error {
	err := h.fetchImage(ctx, a)
	if err == nil {
		h.noteFetching(a.ID, false)
	}
	return err
}

// fetchImage brings the image here unless it is there and need not be the latest.
func (h *Runtime) fetchImage(ctx context.Context, a runtime.Allocation) error {
	built := strings.HasPrefix(a.Image, runtime.BuiltImages) // here, and is in no registry
	if h.config.Pull != PullAlways || built {
		switch err := h.lookFor(ctx, a.Image); {
		case err == nil:
			return nil
		case !errdefs.IsNotFound(err):
			return err
		case built && h.config.fetch != nil:
			h.noteFetching(a.ID, true)
			return h.config.fetch(ctx, a.Image, h)
		case built:
			return errNotBuilt(a.Image)
		case h.config.Pull == PullNever:
			return fmt.Errorf("image %q is not there, and images are not pulled", a.Image)
		}
	}

	h.noteFetching(a.ID, true)
	var options client.ImagePullOptions
	if a.Credential != nil {
		c, err := a.Credential(ctx)
		if err != nil {
			return fmt.Errorf("image %q: the registry credential cannot be had: %w", a.Image, err)
		}
		auth, err := authconfig.Encode(registry.AuthConfig{Username: c.User, Password: c.Password, ServerAddress: registryOf(a.Image)})
		if err != nil {
			return errors.New("the registry credential cannot be encoded")
		}
		options.RegistryAuth = auth
	}

	progress, err := h.engine.ImagePull(ctx, a.Image, options)
	if err != nil {
		return fmt.Errorf("image %q cannot be pulled: %w", a.Image, fault(err))
	}
	for m, err := range progress.JSONMessages(ctx) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // the answer was cut off: what became of the pull nobody knows, and how it was cut is not for who wants the image
			h.config.Log.Debug("the engine's answer to a pull was cut off", "image", a.Image, "error", err)
			return fmt.Errorf("%w: image %q: its pull was cut off", runtime.ErrUnavailable, a.Image)
		case m.Error != nil:
			return fmt.Errorf("image %q cannot be pulled: %w", a.Image, m.Error)
		}
	}

	return nil
}

// registryOf gives the host of an image's registry, of which the engine holds a credential against where it asks; empty for Docker Hub, to which one
// without a host belongs.
func registryOf(image string) string {
	host, _, named := strings.Cut(image, "/")
	switch {
	case !named, !strings.ContainsAny(host, ".:") && host != "localhost", host == "docker.io", host == "index.docker.io":
		return ""
	}
	return host
}

// errNotBuilt says that an image that was built is gone.
func errNotBuilt(image string) error {
	return fmt.Errorf("image %q was built, and is not there any more", image)
}
