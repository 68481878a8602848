package docker

import (
	"context"

	"github.com/moby/moby/client"
)

// Ping reports whether the engine answers: ErrUnavailable, or the error of ctx.
func (h *Runtime) Ping(ctx context.Context) error {
	_, err := ask(ctx, func(ctx context.Context) (client.PingResult, error) { return h.engine.Ping(ctx, client.PingOptions{}) })
	return err
}
