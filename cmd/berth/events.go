package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newEventsCommand() *cobra.Command {
	var kinds []string
	f := &eventFollower{}
	cmd := &cobra.Command{
		Use: "events", Aliases: []string{"event"}, Short: "Follow what changes in the server", Args: cobra.NoArgs,
		Long: `Follow what changes in the server: a line for each thing that is made, changed or deleted, with its kind, its id, what was done, its status, and the
endpoint of jobs and workers. It shows what the key may read, and everything of all users with the key of the test controls. The line reset
says that changes were missed, or that everything is another. It goes on until it is interrupted, or after so many events as --count says.`,
		Example: `  berth events
  berth events --kinds job,worker
  berth events --kinds pod --json | jq -r 'select(.status == "RUNNING").id'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.count < 0 {
				return misuse(fmt.Errorf("--count: %d is less than 0", f.count), "")
			}
			for _, kind := range kinds {
				one := controls.FollowedKind(kind)
				if !one.Valid() {
					return misuse(fmt.Errorf("--kinds: %q is no kind of event; there are %s", kind, strings.Join(followedKinds, ", ")), didYouMean(nearest(kind, followedKinds)))
				}
				f.params.Kinds = append(f.params.Kinds, one)
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			f.cmd, f.connection = cmd, c
			return f.follow()
		},
	}

	cmd.Flags().StringSliceVar(&kinds, "kinds", nil, "only events of these kinds, such as pod,job")
	cmd.Flags().Int64Var(&f.count, "count", 0, "end after this many events; 0: never")
	_ = cmd.RegisterFlagCompletionFunc("kinds", words(followedKinds...).values)
	return cmd
}

// followedKinds are the kinds that can be asked for.
var followedKinds = []string{
	"pod", "cluster", "endpoint", "job", "worker", "volume", "template", "registry", "secret", "key", "webhook", "host", "clock", "fault", "journal",
}

// eventFollower prints the events of a server.
type eventFollower struct {
	*connection
	cmd    *cobra.Command
	params controls.GetEventsParams
	count  int64 // how many are printed; 0: all
	shown  int64
}

// errEnough ends a stream of which enough was printed.
var errEnough = errors.New("enough")

// follow prints what comes. A stream that breaks off, or ends because the server does, is taken up where it was.
func (f *eventFollower) follow() error {
	for away := (outage{}); ; {
		s, err := f.stream()
		if err == nil || s.lasted() {
			away.end()
		}
		switch {
		case errors.Is(err, errEnough):
			return nil
		case f.cmd.Context().Err() != nil:
			return f.cmd.Context().Err()
		case err != nil && !away.bears(err):
			return err
		}
		if err := pausing(f.cmd.Context(), firstPause); err != nil {
			return err
		}
	}
}

// stream prints the events of one stream.
func (f *eventFollower) stream() (s streamed, err error) {
	ctx, cancel := context.WithCancelCause(f.cmd.Context())
	defer cancel(nil)
	res, err := f.open(ctx, cancel, func(ctx context.Context) (*http.Response, error) { return f.controls.GetEvents(ctx, &f.params) })
	if err != nil {
		return s, err
	}
	defer func() { _ = res.Body.Close() }()

	s.opened = time.Now()
	events, broken := make(chan logEvent), make(chan error, 1)
	go func() {
		broken <- readEvents(ctx, res.Body, events)
		close(events)
	}()
	for e := range events {
		if e.id != "" {
			f.params.LastEventID = &e.id // also of one without data: the stream stands there, and may break off before the next
		}
		if e.data == "" {
			continue
		}
		s.some = true
		if err := f.print(e.data); err != nil {
			return s, err
		}
	}
	if err := <-broken; err != nil {
		return s, f.unreached(err)
	}
	return s, nil
}

// print prints an event.
func (f *eventFollower) print(data string) error {
	out := f.cmd.OutOrStdout()
	text := data
	if !asJSON(f.cmd) {
		var e controls.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("an event of the server: %w", err)
		}
		text = strings.TrimRight(fmt.Sprintf("%-8s  %-8s  %s  %s  %s", e.Kind, e.Change, e.ID, pointed(e.Status), pointed(e.EndpointID)), " -")
	}
	if _, err := fmt.Fprintln(out, text); err != nil {
		return err
	}
	if f.shown++; f.shown == f.count {
		return errEnough
	}
	return nil
}
