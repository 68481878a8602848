package loop

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// How what was there before a start is asked for: so many at once, each for so long. Until all was, nothing is placed or looked at.
const (
	asksAtOnce = 64
	askTime    = 5 * time.Second
)

// inspection is what the runtime said of an allocation.
type inspection struct {
	state runtime.State
	err   error
}

// inspections gives each of all in its order, with what the runtime says of its id; of one without an id nothing is asked. What is simulated
// is asked for one after the other.
func inspections[T any](ctx context.Context, r runtime.Runtime, simulated bool, all []T, id func(T) string) iter.Seq2[T, inspection] {
	atOnce := asksAtOnce
	if simulated {
		atOnce = 1
	}
	return func(yield func(T, inspection) bool) {
		for some := range slices.Chunk(all, atOnce) {
			said := make([]inspection, len(some))
			var asks sync.WaitGroup
			for i, one := range some {
				if id := id(one); id != "" {
					asks.Go(func() { said[i] = inspect(ctx, r, id) })
				}
			}
			asks.Wait()
			for i, one := range some {
				if !yield(one, said[i]) {
					return
				}
			}
		}
	}
}

// inspect asks how an allocation is. An engine that hangs does not answer.
func inspect(ctx context.Context, r runtime.Runtime, id string) inspection {
	short, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	state, err := r.Inspect(short, id)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		err = fmt.Errorf("%w within %s", runtime.ErrUnavailable, askTime)
	}
	return inspection{state, err}
}
