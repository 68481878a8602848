package httpapi

import (
	"time"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/nullable"
)

// buildView fills every field of the published build. A local one is of no commit.
func buildView(b compute.Build) rest.Build {
	none := nullable.NewNullNullable[string]()
	v := rest.Build{
		ID: string(b.ID), Status: rest.BuildState(b.Status), CommitHash: none, CommitMessage: none, Branch: none,
		CommitDate: nullable.NewNullNullable[time.Time](), ImageName: none, StartedAt: timeOrNull(b.StartedAt), CompletedAt: timeOrNull(b.EndedAt),
		Error: orNull(b.Error),
	}
	if b.Status == compute.BuildCompleted {
		v.ImageName = nullable.NewNullableWithValue(b.Image)
	}
	return v
}

func timeOrNull(t time.Time) nullable.Nullable[time.Time] {
	if t.IsZero() {
		return nullable.NewNullNullable[time.Time]()
	}
	return nullable.NewNullableWithValue(t)
}
