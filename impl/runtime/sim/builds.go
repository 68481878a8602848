package sim

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

var _ runtime.Builder = (*Fleet)(nil)

// longestDockerfile bounds what is read of one.
const longestDockerfile = 1 << 20

// Build prints the instructions of the Dockerfile, and carries out two: RUN sleep 10s takes so long by the clock, and RUN exit 3 fails.
func (f *Fleet) Build(ctx context.Context, b runtime.Build, emit func(line string)) error {
	text, err := dockerfile(b.Archive)
	if err != nil {
		return err
	}

	var steps []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			steps = append(steps, line)
		}
	}
	if len(steps) == 0 {
		return errors.New("the Dockerfile cannot be empty")
	}

	for i, step := range steps {
		emit(fmt.Sprintf("Step %d/%d : %s", i+1, len(steps), step))
		if code, exits := strings.CutPrefix(step, "RUN exit "); exits && code != "0" {
			return fmt.Errorf("the command '/bin/sh -c exit %s' returned a non-zero code: %[1]s", code)
		}
		if length, sleeps := strings.CutPrefix(step, "RUN sleep "); sleeps {
			d, err := time.ParseDuration(length)
			if err != nil {
				return err
			}
			over, stop := f.clock.After(d)
			select {
			case <-ctx.Done():
				stop()
				return ctx.Err()
			case <-over:
			}
		}
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.images[b.ID] = true
	emit("Successfully tagged " + b.Image)
	return ctx.Err()
}

// dockerfile gives the text of the one at the top of the archive, which is read to its end.
func dockerfile(archive io.Reader) (text string, err error) {
	found := false
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return "", errors.New("the archive has no Dockerfile at its top")
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return "", fmt.Errorf("the archive cannot be read: %w", err)
		}

		if path.Clean(header.Name) == "Dockerfile" {
			all, err := io.ReadAll(io.LimitReader(files, longestDockerfile))
			if err != nil {
				return "", err
			}
			found, text = true, string(all)
		}
	}
}

// Images gives the builds that have succeeded.
func (f *Fleet) Images(ctx context.Context) ([]compute.BuildID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.images)), ctx.Err()
}

// RemoveImage forgets the build.
func (f *Fleet) RemoveImage(ctx context.Context, id compute.BuildID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.images, id)
	return ctx.Err()
}
