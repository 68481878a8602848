package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

// artifactTime is for sending an artifact to the engine, which may be on another machine.
const artifactTime = 15 * time.Minute

// giveArtifact puts the artifact of the allocation, if it has one, at runtime.ArtifactPath in its container, which has not started. A
// folder that the image does not have is made.
func (h *Runtime) giveArtifact(ctx context.Context, a runtime.Allocation) error {
	if a.Artifact == "" {
		return nil
	}
	file, err := os.Open(a.Artifact)
	if err != nil {
		return noArtifact(err)
	}
	defer func() { _ = file.Close() }() // it was read alone
	info, err := file.Stat()
	if err != nil {
		return noArtifact(err)
	}

	read, write := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		archive := tar.NewWriter(write)
		header := &tar.Header{Name: strings.TrimPrefix(runtime.ArtifactPath, "/"), Mode: 0o644, Size: info.Size(), ModTime: info.ModTime()}
		err := archive.WriteHeader(header)
		if err == nil {
			_, err = io.Copy(archive, file)
		}
		_ = write.CloseWithError(errors.Join(err, archive.Close())) // nil: the end
	}()

	limited, cancel := context.WithTimeout(ctx, artifactTime)
	defer cancel()
	_, err = h.engine.CopyToContainer(limited, h.name(a.ID), client.CopyToContainerOptions{DestinationPath: "/", Content: read})
	_ = read.Close() // ends what still sends
	<-sent
	if err != nil {
		return fmt.Errorf("the artifact: %w", fault(err))
	}
	return nil
}

// noArtifact says what is wrong with the file, and not where it is: the owner of the allocation reads it.
func noArtifact(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("the artifact cannot be read: %w", err)
}
