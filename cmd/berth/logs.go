package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// soFar is the comment in a stream that follows the lines that there were (rule logs.so-far).
const soFar = "so far"

const logsLong = `Print what %s wrote: without --follow the lines so far, with it also the lines to come, until there can be no
more. Lines of berth itself, about starting and stopping, come after [system]. With --json each line is a JSON object of
source, line and ts.`

// logQuery is what the flags of logs ask for.
type logQuery struct {
	follow, timestamps bool
	tail               int64
	source, since      string
}

func (q *logQuery) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&q.follow, "follow", false, "continue with the lines that are still to come")
	cmd.Flags().BoolVar(&q.timestamps, "timestamps", false, "print the time before each line")
	cmd.Flags().Int64Var(&q.tail, "tail", 100, "how many of the last lines to print first")
	cmd.Flags().StringVar(&q.source, "source", "", "only lines of the container, or of the system")
	cmd.Flags().StringVar(&q.since, "since", "", "only lines from this time on: a time like 2026-01-31T12:00:00Z, or how long ago, like 10m; --tail then has no effect")
	_ = cmd.RegisterFlagCompletionFunc("source", words("container", "system").values)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		_, err := q.params()
		return err
	}
}

func (q *logQuery) params() (*rest.GetPodLogsParams, error) {
	p := &rest.GetPodLogsParams{Tail: &q.tail}
	if q.source != "" {
		source := rest.LogSource(q.source)
		p.Source = &source
	}
	if q.since == "" {
		return p, nil
	}

	at, err := time.Parse(time.RFC3339Nano, q.since)
	if err != nil {
		ago, err := time.ParseDuration(q.since)
		if err != nil || ago < 0 {
			return nil, misuse(fmt.Errorf("--since: %q is neither a time like 2026-01-31T12:00:00Z nor a duration like 10m", q.since), "")
		}
		at = time.Now().Add(-ago)
	}

	p.Since = &at
	return p, nil
}

// logRequest opens the stream of a log.
type logRequest func(ctx context.Context, p *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error)

// print prints a log. A stream that breaks off, or ends because the server does, is taken up where it was.
func (q *logQuery) print(cmd *cobra.Command, c *connection, open logRequest) error {
	params, err := q.params()
	if err != nil {
		return err
	}

	var (
		last  string // the id of the last line
		stood bool   // there was a stream
		ended bool   // one ended in order
		away  outage
	)
	for {
		// The id of an event is sent back as it came, letter for letter, as server-sent events have it; the client's parameter for it is
		// a time, which would be written anew.
		s, err := q.stream(cmd, c, &last, func(ctx context.Context) (*http.Response, error) {
			return open(ctx, params, func(_ context.Context, r *http.Request) error {
				if last != "" {
					r.Header.Set("Last-Event-ID", last)
				}
				return nil
			})
		})

		lasted := s.lasted()
		if stood = stood || !s.opened.IsZero(); lasted {
			away.end()
		}
		switch {
		case !q.follow || cmd.Context().Err() != nil:
			return err
		case err == nil && ended && !lasted: // once more, at once and with nothing: there will be none any more
			return nil
		case err == nil: // a server that stops ends it so, too
			ended = true
			away.end()
		case stood && isStatus(err, http.StatusNotFound):
			return nil // deleted meanwhile
		case !stood || !away.bears(err):
			return err
		}

		if err := pausing(cmd.Context(), firstPause); err != nil {
			return err
		}
	}
}

// stream prints what one stream has.
func (q *logQuery) stream(cmd *cobra.Command, c *connection, last *string, r request) (s streamed, err error) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	res, err := c.open(ctx, cancel, r)
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
	silence := time.NewTimer(requestTime)
	defer silence.Stop()

	for {
		var late <-chan time.Time
		if !q.follow {
			late = silence.C
		}

		select {
		case e, ok := <-events:
			if !ok {
				err := <-broken
				if err == nil && !q.follow {
					err = errCutOff
				}
				if err != nil {
					return s, c.unreached(err)
				}
				return s, nil
			}

			if e.comment == soFar && !q.follow {
				return s, nil
			}
			if e.data == "" {
				continue
			}
			s.some, *last = true, e.id
			silence.Reset(requestTime)
			if err := q.line(cmd, e.data); err != nil {
				return s, err
			}
		case <-late:
			return s, c.unreached(errCutOff)
		}
	}
}

// errCutOff is the error of a log that is not followed and of which not all has come.
var errCutOff = errors.New("the log broke off before all of it had come")

// line prints one line.
func (q *logQuery) line(cmd *cobra.Command, data string) error {
	out := cmd.OutOrStdout()
	if asJSON(cmd) {
		_, err := fmt.Fprintln(out, data)
		return err
	}

	var l struct{ Source, Line, TS string }
	if err := json.Unmarshal([]byte(data), &l); err != nil {
		return err
	}
	if l.Source == string(rest.LogSourceSystem) {
		l.Line = "[system] " + l.Line
	}
	if q.timestamps {
		l.Line = l.TS + " " + l.Line
	}
	_, err := fmt.Fprintln(out, l.Line)

	return err
}

func newPodLogsCommand(r *resource[rest.Pod]) *cobra.Command {
	var q logQuery
	cmd := &cobra.Command{
		Use:               "logs POD",
		Short:             "Print the log of a pod",
		Long:              fmt.Sprintf(logsLong, "a pod"),
		Example:           "  berth pods logs k3v9x2m1q8w7rt --follow\n  berth pods logs k3v9x2m1q8w7rt --since 10m --timestamps",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := c.pod(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return r.hint(q.print(cmd, c, func(ctx context.Context, p *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error) {
				return c.rest.GetPodLogs(ctx, id, p, resume)
			}))
		},
	}

	q.add(cmd)
	return cmd
}

func newWorkerLogsCommand(r *resource[rest.Endpoint]) *cobra.Command {
	var q logQuery
	cmd := &cobra.Command{
		Use:     "logs ENDPOINT [WORKER]",
		Short:   "Print the log of a worker",
		Long:    fmt.Sprintf(logsLong, "a worker") + " Without an id it is the newest worker or, if none runs, the last one that ended.",
		Example: "  berth endpoints logs words --follow\n  berth endpoints logs words w7x2k9m4q1 --tail 20",
		Args:    cobra.RangeArgs(1, 2),
		ValidArgsFunction: completion(func(ctx context.Context, c *connection, args []string) ([]string, error) {
			switch len(args) {
			case 0:
				return r.ids()(ctx, c, args)
			case 1:
				return workerIDs(ctx, c, args[0])
			}
			return nil, nil
		}).values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			endpoint, err := c.endpoint(cmd.Context(), args[0])
			if err != nil {
				return err
			}

			if len(args) == 1 {
				list, _, err := c.workersOf(cmd.Context(), endpoint)
				if err != nil {
					return r.hint(err)
				}
				id, ok := newest(list)
				if !ok {
					return fmt.Errorf("endpoint %s has no worker, and none has ended", args[0])
				}
				args = append(args, id)
			}

			err = q.print(cmd, c, func(ctx context.Context, p *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error) {
				return c.rest.GetWorkerLogs(ctx, endpoint, args[1], (*rest.GetWorkerLogsParams)(p), resume)
			})
			return hinted(err, fmt.Sprintf("berth endpoints workers %s shows those that there are", args[0]))
		},
	}

	q.add(cmd)
	return cmd
}

// workerIDs gives the workers of an endpoint, the newest first, and then those that have ended.
func workerIDs(ctx context.Context, c *connection, endpoint string) (ids []string, err error) {
	id, err := c.endpoint(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	list, _, err := c.workersOf(ctx, id)
	for _, w := range list.Workers {
		ids = append(ids, w.ID)
	}
	for _, w := range list.Ended {
		ids = append(ids, w.ID)
	}
	return ids, err
}
