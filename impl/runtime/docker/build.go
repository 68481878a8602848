package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// labelBuild is the id of the build that an image is of.
const labelBuild = "dev.berth.build"

var _ runtime.Builder = (*Runtime)(nil)

// Build has the engine build, with half of the machine at most: what it runs is of who may build, and others have pods there. What the engine
// says of layers that it pulls is no line, but for the end of each.
func (h *Runtime) Build(ctx context.Context, b runtime.Build, emit func(line string)) error {
	info, err := h.info(ctx)
	if err != nil {
		return err
	}
	const period = 100_000 // microseconds
	answer, err := h.engine.ImageBuild(ctx, b.Archive, client.ImageBuildOptions{
		Tags: []string{b.Image}, Remove: true, ForceRemove: true, Labels: map[string]string{labelOwner: h.config.Owner, labelBuild: string(b.ID)},
		Memory: info.MemTotal / 2, MemorySwap: info.MemTotal / 2, CPUPeriod: period, CPUQuota: max(period, period*int64(info.NCPU)/2),
	})
	if err != nil {
		return fault(err)
	}
	defer func() { _ = answer.Body.Close() }()

	var text strings.Builder // of a line that has not ended
	defer func() {
		if text.Len() > 0 {
			emit(text.String())
		}
	}()
	for messages := json.NewDecoder(answer.Body); ; {
		var m jsonstream.Message
		err := messages.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault(err)
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case m.Status != "" && m.Progress == nil:
			emit(strings.TrimSpace(m.ID + " " + m.Status))
		}

		text.WriteString(m.Stream)
		if !strings.Contains(m.Stream, "\n") && text.Len() < compute.BuildLine {
			continue
		}
		emitLines(&text, emit)
	}
}

// emitLines emits the lines of a text and leaves the last one, which has not ended, unless it is as long as a line may be.
func emitLines(text *strings.Builder, emit func(string)) {
	lines := strings.Split(text.String(), "\n")
	text.Reset()
	if last := lines[len(lines)-1]; len(last) < compute.BuildLine {
		text.WriteString(last)
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		emit(strings.TrimSuffix(line, "\r"))
	}
}

// Images gives the builds of this owner of which there is an image.
func (h *Runtime) Images(ctx context.Context) (ids []compute.BuildID, err error) {
	images, err := h.images(ctx, labelBuild)
	for _, one := range images.Items {
		ids = append(ids, compute.BuildID(one.Labels[labelBuild]))
	}
	return ids, err
}

// RemoveImage removes the engine's image with its name. What a container was made of stays.
func (h *Runtime) RemoveImage(ctx context.Context, id compute.BuildID) error {
	images, err := h.images(ctx, labelBuild+"="+string(id))
	for _, one := range images.Items {
		_, removal := ask(ctx, func(ctx context.Context) (client.ImageRemoveResult, error) {
			return h.engine.ImageRemove(ctx, one.ID, client.ImageRemoveOptions{PruneChildren: true})
		})
		if removal != nil && !errdefs.IsNotFound(removal) && !errdefs.IsConflict(removal) {
			err = errors.Join(err, fmt.Errorf("image of build %s: %w", id, removal))
		}
	}
	return err
}

func (h *Runtime) images(ctx context.Context, label string) (client.ImageListResult, error) {
	return ask(ctx, func(ctx context.Context) (client.ImageListResult, error) {
		return h.engine.ImageList(ctx, client.ImageListOptions{Filters: h.label().Add("label", label)})
	})
}
