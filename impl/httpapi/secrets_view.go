package httpapi

import (
	"time"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// secretView fills every field of the published secret, which does not show its value.
func secretView(s compute.Secret) rest.Secret {
	changed := nullable.NewNullNullable[time.Time]()
	if !s.ChangedAt.IsZero() {
		changed = nullable.NewNullableWithValue(s.ChangedAt)
	}
	return rest.Secret{ID: string(s.ID), Name: s.Name, Description: orNull(s.Description), CreatedAt: s.CreatedAt, ValueLastUpdatedAt: changed}
}

// newSecret translates a request.
func newSecret(r rest.CreateSecretRequest) control.NewSecret {
	return control.NewSecret{Name: r.Name, Value: r.Value, Description: value(r.Description)}
}
