package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/app"
)

// onceInput gives the JSON of --input; nil without it.
func onceInput(cmd *cobra.Command, text string) (json.RawMessage, error) {
	if !cmd.Flags().Changed("input") {
		return nil, nil
	}
	input, err := jobInput(cmd, text)
	if err != nil {
		return nil, misuse(fmt.Errorf("--input: %w", err), "see berth dev --help")
	}
	return input, nil
}

// runOnce runs one job through the handler, over HTTP as a client does, and prints it at its end.
func runOnce(cmd *cobra.Command, s *app.Server, key string, input json.RawMessage, until *waiting) error {
	c, err := dial(s.URL(), s.QueueURL(), key)
	if err != nil {
		return err
	}
	j := &jobs{connection: c, cmd: cmd, endpoint: string(s.Endpoints()[devEndpoint]), named: devEndpoint, within: true}
	j.hopeless = (&crashes{news: newsOf(cmd.Context(), c, j.endpoint, j.named)}).look
	job, document, err := j.job(cmd.Context(), 0, func(ctx context.Context) (*http.Response, error) {
		body, err := plainJSON(map[string]any{"input": input})
		if err != nil {
			return nil, err
		}
		return c.queue.RunWithBody(ctx, j.endpoint, "application/json", bytes.NewReader(body))
	})
	if err != nil {
		return err
	}
	if err = j.finish(until, false, job, document); err != nil { // or a job that has not ended would be in the way of the next call's
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), newsEvery)
		defer cancel()
		_, _ = c.ask(ctx, func(ctx context.Context) (*http.Response, error) { return c.queue.Cancel(ctx, j.endpoint, job.ID) })
	}
	return err
}

// mostCrashes is how often the handler may end before it takes the one job: it would do so for ever.
const mostCrashes = 3

// crashes are the workers that ended while the one job waited for its first.
type crashes struct {
	*news
	seen int
}

// look fails with exitEnded once there are too many. A job that a worker has had is the queue's matter, which gives up by itself.
func (k *crashes) look(ctx context.Context, job queue.Job) error {
	if job.Status != queue.JobStatusINQUEUE || job.Retries != nil {
		return nil
	}
	list, _, err := k.of.workersOf(ctx, k.id)
	if err != nil {
		return err
	}
	for _, w := range list.Ended {
		if !k.known[w.ID] {
			k.known[w.ID] = true
			k.seen++
		}
	}
	if k.seen < mostCrashes {
		return nil
	}

	why, words, _ := strings.Cut(list.Ended[0].Reason, "\n")
	f := &failure{code: exitEnded, cause: fmt.Errorf("the handler ended %d times and did not take job %s: %s", k.seen, job.ID, oneLine(why))}
	for line := range strings.Lines(words) {
		f.notes = append(f.notes, oneLine(strings.TrimRight(line, "\n")))
	}
	return f
}
