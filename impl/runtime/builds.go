package runtime

import (
	"context"
	"io"

	"github.com/berthdev/berth/impl/compute"
)

// Builder is a runtime that makes images, too.
type Builder interface {
	// Build makes an image by the Dockerfile in an archive. It returns once it is there; the error says what it failed of. Emit is called
	// with each line that is to be read, without its line feed.
	Build(ctx context.Context, b Build, emit func(line string)) error
	// Images gives the builds whose images it has.
	Images(ctx context.Context) ([]compute.BuildID, error)
	// RemoveImage removes the image of a build, unless something runs of it; an unknown one is no error.
	RemoveImage(ctx context.Context, id compute.BuildID) error
}

// BuiltImages begins the names of images that are built here. They are in no registry, and so are never pulled.
const BuiltImages = "berth-build/"

// Build is what is to be built.
type Build struct {
	ID      compute.BuildID
	Image   string    // its name
	Archive io.Reader // tar, not compressed
}
