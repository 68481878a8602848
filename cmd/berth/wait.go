package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

const (
	firstPause = 100 * time.Millisecond // between two looks; doubles
	lastPause  = time.Second            // what that doubling ends at
	patience   = 30 * time.Second       // with a server that does not answer while it is waited for something
)

// waiting is what the flags of waiting say.
type waiting struct {
	wait    bool
	timeout time.Duration // 0: for ever
	held    bool          // the server holds every look, so that none needs a pause before it
	news    *news         // printed meanwhile; nil: there are none
}

// add adds --wait and --timeout.
func (w *waiting) add(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until "+until)
	w.addTimeout(cmd, 10*time.Minute)
}

func (w *waiting) addTimeout(cmd *cobra.Command, d time.Duration) {
	waitingVar(cmd.Flags(), &w.timeout, "timeout", d, "how long to wait; 0: for ever")
}

// errTimeout is the cause of a context that --timeout ends.
var errTimeout = errors.New("the time of --timeout is over")

// limit gives a context that ends with the time.
func (w *waiting) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, w.timeout, errTimeout)
}

// late makes the failure of a wait out of that of a request which the end of the time broke off.
func (w *waiting) late(ctx context.Context, err error, state, hint string) error {
	switch cause := context.Cause(ctx); {
	case err == nil || cause == nil:
		return err
	case !errors.Is(cause, errTimeout):
		return &failure{code: exitInterrupted, cause: cause, hint: hint}
	}
	return &failure{code: exitTimeout, cause: fmt.Errorf("%s after %s", state, w.timeout), hint: hint}
}

// await looks until look says that it is done. The state reports how far it is, at first and then what look gives. A server that does not answer for a while
// is borne.
func (w *waiting) await(cmd *cobra.Command, state, hint string, look func(context.Context) (state string, done bool, err error)) error {
	ctx, cancel := w.limit(cmd.Context())
	defer cancel()
	line := newProgress(cmd)
	defer line.clear()
	var away outage
	pause := firstPause
	line.say(state)

	for {
		now, done, err := look(ctx)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			state = now
			away.end()
			line.clear()
			w.news.print(ctx, cmd.ErrOrStderr(), false)
			line.say(state)
			if w.held {
				continue
			}
		case ctx.Err() != nil || !away.bears(err):
			return w.late(ctx, err, state, hint)
		}

		if err := pausing(ctx, pause); err != nil {
			return w.late(ctx, err, state, hint)
		}
		pause = min(2*pause, lastPause)
	}
}

// outage is the time in which a server that is waited for does not answer.
type outage struct{ since time.Time } // when the first request failed; zero: it answers

// bears reports whether a request that failed so may be made once more: it may succeed later, and those before it have not failed for too long. What
// counts is from the first failure on, not from the last answer: the server may have held a request for minutes before it was cut off.
func (o *outage) bears(err error) bool {
	if o.since.IsZero() {
		o.since = time.Now()
	}
	return passing(err) && time.Since(o.since) <= patience
}

// end says that the server has answered.
func (o *outage) end() { o.since = time.Time{} }

// pausing waits.
func pausing(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
