package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// OpenSecrets gives an environment with the values of the user's secrets in it, and the names that the user has no secret of. An
// error says why what is started cannot have it.
type OpenSecrets func(ctx context.Context, user compute.UserID, env map[string]string) (filled map[string]string, unknown []string, err error)

// environmentOf gives the environment of a pod or worker that is being started, with the values of secrets. Of
// names that the user has no secret of it says so in the system log. The error is runtime.ErrUnavailable
// when the store cannot be read or written now.
func environmentOf(ctx context.Context, s store.Store, open OpenSecrets, user compute.UserID, id string, env map[string]string) (map[string]string, error) {
	if open == nil {
		return env, nil
	}

	filled, unknown, err := open(ctx, user, env)
	if err == nil && len(unknown) > 0 {
		slices.Sort(unknown)
		err = s.Write(ctx, func(tx store.Tx) error {
			return tx.AddSystemLine(id, "there is no secret of this name, and the environment keeps what refers to it: "+strings.Join(unknown, ", "))
		})
	}

	var refused *compute.Error
	switch errors.As(err, &refused); {
	case compute.CodeOf(err) == compute.Unavailable:
		err = fmt.Errorf("%w: %w", runtime.ErrUnavailable, err)
	case refused != nil:
		err = errors.New(refused.Detail) // it becomes a reason, which has no code
	}

	return filled, err
}
