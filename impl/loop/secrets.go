package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// OpenSecrets gives an environment with the values of the user's secrets in it, and the names that the user has no secret of. An
// error says why what is started cannot have it.
type OpenSecrets func(ctx context.Context, user compute.UserID, env map[string]string) (filled map[string]string, unknown []string, err error)

// longestLine is how many bytes of names that are unknown a log keeps: an environment may have as many as it likes.
const longestLine = 2_000

// environmentOf gives the environment of a pod or worker that is being started, with the values of secrets, and a line for its log if
// the user has no secret of a name in it; empty: there is none to add. The error is runtime.ErrUnavailable when the store cannot be read
// now.
func environmentOf(ctx context.Context, open OpenSecrets, user compute.UserID, env map[string]string) (filled map[string]string, line string, err error) {
	if open == nil {
		return env, "", nil
	}

	filled, unknown, err := open(ctx, user, env)
	if len(unknown) > 0 {
		slices.Sort(unknown)
		line = "there is no secret of this name, and the environment keeps what refers to it: " + strings.Join(unknown, ", ")
		line = line[:min(len(line), longestLine)] // names are ASCII
	}

	var refused *compute.Error
	switch errors.As(err, &refused); {
	case compute.CodeOf(err) == compute.Unavailable:
		err = retried(err)
	case refused != nil:
		err = errors.New(refused.Detail) // it becomes a reason, which has no code
	}

	return filled, line, err
}

// retried makes runtime.ErrUnavailable of the error of a store that cannot be read now, so that a start that needs it is tried again.
func retried(err error) error {
	if compute.CodeOf(err) == compute.Unavailable {
		return fmt.Errorf("%w: %w", runtime.ErrUnavailable, err)
	}
	return err
}
