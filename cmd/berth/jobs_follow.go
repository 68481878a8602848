package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/berthdev/berth/gen/queue"
)

// follow prints what a job streams and how its status moves, and gives it at its end.
func (j *jobs) follow(w *waiting, job queue.Job, document []byte) (queue.Job, []byte, error) {
	ctx, cancel := w.limit(j.cmd.Context())
	defer cancel()
	f := &following{jobs: j, id: job.ID}
	f.show(job, document)

	var away outage
	for {
		now, read, over, err := f.read(ctx)
		switch {
		case err == nil && over:
			return now, read, nil
		case err == nil:
			job, document = now, read
			away.end()
			if !ended(now.Status) { // else chunks are left, and the end is printed after them
				f.show(now, read)
				w.news.print(ctx, f.cmd.ErrOrStderr(), false)
			}
		case ctx.Err() != nil || !away.bears(err):
			state := fmt.Sprintf("job %s is %s", f.id, job.Status)
			return job, document, w.late(ctx, err, state, fmt.Sprintf("it goes on: berth jobs stream %s %s", j.named, f.id))
		default:
			_ = pausing(ctx, firstPause)
		}
	}
}

// following is where a reader of a job's stream is.
type following struct {
	*jobs
	id     string
	status queue.JobStatus
	output string // the progress printed last
}

// show prints what is new: of the status, and of the progress that a job reports as its output.
func (f *following) show(job queue.Job, document []byte) {
	output := compact(job.Output)
	if job.Status == f.status && output == f.output {
		return
	}

	if asJSON(f.cmd) {
		fmt.Fprintf(f.cmd.OutOrStdout(), "%s\n", compact(document))
	} else {
		if job.Status != f.status {
			fmt.Fprintf(f.cmd.ErrOrStderr(), "job %s is %s\n", f.id, job.Status)
		}
		if output != "" && output != f.output {
			fmt.Fprintf(f.cmd.ErrOrStderr(), "progress: %s\n", oneLine(output))
		}
	}

	f.status, f.output = job.Status, output
}

// read prints the chunks of one read of the stream, and gives the job as it is then. It is over when the stream says so, whose
// last chunks come with the last status; a job that was cancelled or timed out may have no stream any more.
func (f *following) read(ctx context.Context) (job queue.Job, document []byte, over bool, err error) {
	ms := shortestHold.Milliseconds()
	read, err := f.hold(ctx, shortestHold, func(ctx context.Context) (*http.Response, error) {
		return f.queue.Stream(ctx, f.endpoint, f.id, &queue.StreamParams{Wait: &ms})
	})

	switch {
	case isStatus(err, http.StatusNotFound):
		over = true
	case err != nil:
		return job, nil, false, err
	default:
		s, err := parse[queue.Stream](f.connection, read)
		if err == nil {
			err = f.print(s, read)
		}
		if err != nil {
			return job, nil, false, err
		}
		over = ended(s.Status)
	}

	job, document, err = f.jobs.status(ctx, f.id, nil)
	return job, document, over && ended(job.Status), err
}

// print prints the chunks of one read.
func (f *following) print(s queue.Stream, document []byte) error {
	if len(s.Stream) == 0 {
		return nil
	}
	out := f.cmd.OutOrStdout()
	if asJSON(f.cmd) {
		_, err := fmt.Fprintf(out, "%s\n", compact(document))
		return err
	}

	for _, chunk := range s.Stream {
		var text string
		if json.Unmarshal(chunk.Output, &text) != nil {
			text = compact(chunk.Output)
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}

	return nil
}
