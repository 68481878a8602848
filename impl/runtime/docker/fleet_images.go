package docker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

var _ runtime.Builder = (*Fleet)(nil)

// Build has the first engine build that answers. Others get the image from it when they need it.
func (f *Fleet) Build(ctx context.Context, b runtime.Build, emit func(line string)) error {
	all := f.reached()
	if len(all) == 0 {
		return fmt.Errorf("%w: no host's engine does", runtime.ErrUnavailable)
	}
	return all[0].do(ctx, func(ctx context.Context) error { return all[0].Build(ctx, b, emit) })
}

// Images gives the builds of which an engine that answers has an image.
func (f *Fleet) Images(ctx context.Context) ([]compute.BuildID, error) {
	return gather(ctx, f, (*Runtime).Images)
}

// RemoveImage removes the image from the engines that answer; those that do not are found by Images when they do again.
func (f *Fleet) RemoveImage(ctx context.Context, id compute.BuildID) (err error) {
	for _, e := range f.reached() {
		err = errors.Join(err, e.do(ctx, func(ctx context.Context) error { return e.RemoveImage(ctx, id) }))
	}
	return err
}

// fetch brings an image that was built on another engine. One that is on its way already is waited for.
func (f *Fleet) fetch(ctx context.Context, image string, to *Runtime) error {
	unlock, err := to.locks.Lock(ctx, "image "+image)
	if err != nil {
		return err
	}
	defer unlock()

	if err := to.lookFor(ctx, image); !errdefs.IsNotFound(err) {
		return err
	}
	silent := f.silent()
	for _, e := range f.reached() {
		if e.Runtime == to {
			continue
		}
		err := e.do(ctx, func(ctx context.Context) error { return e.lookFor(ctx, image) })
		switch {
		case err == nil:
			return e.do(ctx, func(ctx context.Context) error { return send(ctx, e.Runtime, to, image) })
		case ctx.Err() != nil:
			return ctx.Err()
		case !errdefs.IsNotFound(err):
			silent = true
		}
	}
	if silent {
		return fmt.Errorf("%w: image %q may be on a host whose engine does not", runtime.ErrUnavailable, image)
	}
	return errNotBuilt(image)
}

// lookFor gives no error if the image is there.
func (h *Runtime) lookFor(ctx context.Context, image string) error {
	_, err := ask(ctx, func(ctx context.Context) (client.ImageInspectResult, error) { return h.engine.ImageInspect(ctx, image) })
	return err
}

// send copies an image from one engine to another, through this process.
func send(ctx context.Context, from, to *Runtime, image string) error {
	saved, err := from.engine.ImageSave(ctx, []string{image})
	if err != nil {
		return fmt.Errorf("image %q cannot be copied: %w", image, fault(err))
	}
	defer func() { _ = saved.Close() }()
	loaded, err := to.engine.ImageLoad(ctx, saved, client.ImageLoadWithQuiet(true))
	if err != nil {
		return fmt.Errorf("image %q cannot be copied: %w", image, fault(err))
	}
	_, err = io.Copy(io.Discard, loaded)
	_ = loaded.Close()
	if err == nil {
		err = to.lookFor(ctx, image)
	}
	return fault(err)
}
