package control

import (
	"cmp"
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// NewEndpoint is an endpoint as the operator's settings declare it.
type NewEndpoint struct {
	Name        string
	Image       string
	Env         map[string]string
	WorkersMin  int
	WorkersMax  int
	IdleTimeout time.Duration
	Scaler      compute.Scaler // empty: ByDelay
	ScalerValue int            // 0: 4, as published
}

// defaultScalerValue is seconds or jobs.
const defaultScalerValue = 4

// DeclareEndpoint makes the endpoint, or brings the user's endpoint of that name to the same settings.
func (c *Control) DeclareEndpoint(ctx context.Context, user compute.UserID, n NewEndpoint) (compute.Endpoint, error) {
	var e compute.Endpoint
	n.Scaler, n.ScalerValue = cmp.Or(n.Scaler, compute.ByDelay), cmp.Or(n.ScalerValue, defaultScalerValue)
	err := c.store.Write(ctx, func(tx store.Tx) error {
		known, err := tx.EndpointByName(user, n.Name)
		absent := compute.CodeOf(err) == compute.NotFound
		if err != nil && !absent {
			return err
		}
		e = compute.Endpoint{
			ID: known.ID, UserID: user, Name: n.Name, Image: n.Image, Env: n.Env, WorkersMin: n.WorkersMin,
			WorkersMax: n.WorkersMax, IdleTimeout: n.IdleTimeout, Scaler: n.Scaler, ScalerValue: n.ScalerValue, CreatedAt: known.CreatedAt,
		}
		if !absent {
			return tx.UpdateEndpoint(e)
		}
		e.ID, e.CreatedAt = c.ids.Endpoint(), tx.Now()
		return tx.InsertEndpoint(e)
	})
	if err != nil {
		return compute.Endpoint{}, err
	}
	c.endpoints(e)
	return e, nil
}
