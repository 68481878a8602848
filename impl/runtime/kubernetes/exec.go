package kubernetes

import (
	"context"
	"fmt"

	"github.com/berthdev/berth/impl/runtime"
)

var errNoExec = fmt.Errorf("%w: ask the cluster, by kubectl exec", runtime.ErrNoExec)

// Exec gives ErrNoExec.
func (h *Runtime) Exec(ctx context.Context, id string, _ runtime.Exec) (int, error) {
	state, err := h.Inspect(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case state.Phase != runtime.Up:
		return 0, runtime.ErrNotUp
	}
	return 0, errNoExec
}
