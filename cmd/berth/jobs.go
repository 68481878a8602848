package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/queue"
)

const (
	shortestHold = time.Second      // that the server may be asked for
	longestHold  = 50 * time.Second // that it is asked for here: less than the minute that proxies commonly wait for an answer
)

// jobsOf gives connection and endpoint of a command, whose first argument it is.
func jobsOf(cmd *cobra.Command, args []string) (*jobs, error) {
	c, err := connect(cmd)
	if err != nil {
		return nil, err
	}
	endpoint, err := c.endpoint(cmd.Context(), args[0])
	return &jobs{connection: c, cmd: cmd, endpoint: endpoint, named: args[0]}, err
}

// jobs are those of one endpoint.
type jobs struct {
	*connection
	cmd      *cobra.Command
	endpoint string
	named    string // what the user calls it
	within   bool   // the server is this process, and ends with it
	// hopeless looks, while a job is waited for, whether it has no hope of ending, and fails if so; nil: nobody looks.
	hopeless func(context.Context, queue.Job) error
}

// job makes a request whose answer is a job.
func (j *jobs) job(ctx context.Context, held time.Duration, r request) (queue.Job, []byte, error) {
	document, err := j.hold(ctx, held, r)
	if err != nil {
		return queue.Job{}, nil, j.hint(err)
	}
	job, err := parse[queue.Job](j.connection, document)
	return job, document, err
}

func (j *jobs) hint(err error) error {
	switch {
	case isStatus(err, http.StatusNotFound):
		return hinted(err, "berth endpoints list shows the endpoints; a job is kept for 30 minutes after its end, one of runsync for one")
	case isStatus(err, http.StatusConflict):
		return hinted(err, "only a job that FAILED or TIMED_OUT can be retried")
	}
	return err
}

// status reads a job.
func (j *jobs) status(ctx context.Context, id string, ttl *int64) (queue.Job, []byte, error) {
	return j.job(ctx, 0, func(ctx context.Context) (*http.Response, error) {
		return j.queue.Status(ctx, j.endpoint, id, &queue.StatusParams{TTL: ttl})
	})
}

// ended reports whether a status is a last one.
func ended(s queue.JobStatus) bool {
	return s != queue.JobStatusINQUEUE && s != queue.JobStatusINPROGRESS
}

// print prints a job.
func (j *jobs) print(job queue.Job, document []byte) error {
	if asJSON(j.cmd) {
		return printDocument(j.cmd, document)
	}
	return printDetail(j.cmd, jobColumns, job)
}

// outcome prints a job, and makes a failure of one that ended otherwise than COMPLETED.
func (j *jobs) outcome(job queue.Job, document []byte) error {
	err := j.print(job, document)
	if err != nil || !ended(job.Status) || job.Status == queue.JobStatusCOMPLETED {
		return err
	}
	text := fmt.Sprintf("job %s is %s", job.ID, job.Status)
	if job.Error != nil {
		text += ": " + oneLine(*job.Error)
	}
	f := &failure{code: exitEnded, cause: errors.New(text)}
	if job.Status != queue.JobStatusCANCELLED && !j.within {
		f.hint = fmt.Sprintf("berth jobs retry %s %s runs it again", j.named, job.ID)
	}

	return f
}

var jobColumns = []column[queue.Job]{
	{head: "ID", value: func(j queue.Job) string { return j.ID }},
	{head: "STATUS", value: func(j queue.Job) string { return string(j.Status) }},
	{head: "OUTPUT", value: func(j queue.Job) string { return orDash(compact(j.Output)) }},
	{head: "ERROR", value: func(j queue.Job) string { return pointed(j.Error) }},
	{head: "DELAY", value: func(j queue.Job) string { return milliseconds(j.DelayTime) }},
	{head: "EXECUTION", value: func(j queue.Job) string { return milliseconds(j.ExecutionTime) }},
	{head: "WORKER", value: func(j queue.Job) string { return pointed(j.WorkerID) }},
	{head: "RETRIES", value: func(j queue.Job) string { return pointed(j.Retries) }},
}

func milliseconds(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%d ms", *n)
}

// compact writes JSON on one line.
func compact(text json.RawMessage) string {
	b := &bytes.Buffer{}
	if len(text) == 0 || json.Compact(b, text) != nil {
		return ""
	}
	return b.String()
}

// await waits for the end of a job, and gives it.
func (j *jobs) await(w *waiting, job queue.Job, document []byte) (queue.Job, []byte, error) {
	if ended(job.Status) {
		return job, document, nil
	}
	id, begun := job.ID, time.Now()
	hint := fmt.Sprintf("it goes on: berth jobs status %s %s --wait", j.named, id)
	if j.within {
		hint = ""
	}
	w.held = true

	err := w.await(j.cmd, fmt.Sprintf("job %s is %s", id, job.Status), hint, func(ctx context.Context) (string, bool, error) {
		hold := longestHold
		if w.news != nil || j.hopeless != nil {
			hold = newsEvery
		}
		if terminal(j.cmd.ErrOrStderr()) {
			hold = shortestHold // for the line to move
		}
		if w.timeout > 0 {
			hold = min(hold, max(shortestHold, w.timeout-time.Since(begun)))
		}

		ms := hold.Milliseconds()
		now, read, err := j.job(ctx, hold, func(ctx context.Context) (*http.Response, error) {
			return j.queue.StatusSync(ctx, j.endpoint, id, &queue.StatusSyncParams{Wait: &ms})
		})
		if err != nil {
			return "", false, err
		}

		job, document = now, read
		if j.hopeless != nil {
			err = j.hopeless(ctx, job)
		}
		return fmt.Sprintf("job %s is %s", id, job.Status), ended(job.Status), err
	})

	return job, document, err
}

// listen has what becomes of the workers printed while a job is waited for.
func (j *jobs) listen(w *waiting, follow bool) {
	if w.wait || follow {
		w.news = newsOf(j.cmd.Context(), j.connection, j.endpoint, j.named)
	}
}

// finish prints a job at once, at its end, or all the way to it.
func (j *jobs) finish(w *waiting, follow bool, job queue.Job, document []byte) (err error) {
	switch {
	case follow:
		job, document, err = j.follow(w, job, document)
	case w.wait:
		job, document, err = j.await(w, job, document)
	}

	if err != nil || ended(job.Status) && job.Status != queue.JobStatusCOMPLETED {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(j.cmd.Context()), newsEvery)
		defer cancel()
		w.news.print(ctx, j.cmd.ErrOrStderr(), true)
	}

	if err != nil {
		_ = j.print(job, document) // as it was seen last, for its id
		return err
	}
	return j.outcome(job, document)
}

const jobsLong = `Run jobs on serverless endpoints. An endpoint is named by its id, or by its name where no other endpoint has it.

A job that ended otherwise than COMPLETED is exit code 5.`

func newJobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "jobs", Aliases: []string{"job"}, Short: "Run jobs, list, follow, cancel and retry them", Long: jobsLong}
	offered := idsOf(endpoints).first().values
	for _, sub := range []*cobra.Command{newStatusCommand(), newStreamCommand(), newCancelCommand(), newRetryCommand(), newPurgeCommand(), newHealthCommand(), newMetricsCommand()} {
		cmd.AddCommand(endpoints().kind().again(sub))
	}
	cmd.AddCommand(newRunCommand(), newRunSyncCommand())
	for _, sub := range cmd.Commands() {
		sub.ValidArgsFunction = offered
	}
	cmd.AddCommand(newJobsListCommand(), newJobsShowCommand(), newJobsWhyCommand())
	return cmd
}

func addFollow(cmd *cobra.Command, w *waiting, follow *bool) {
	w.add(cmd, "the job has ended")
	cmd.Flags().BoolVar(follow, "follow", false, "print what the job streams, and its status, until it has ended")
	cmd.MarkFlagsMutuallyExclusive("wait", "follow")
}

func newStatusCommand() *cobra.Command {
	var w waiting
	var follow bool
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:     "status ENDPOINT JOB",
		Short:   "Show a job",
		Example: "  berth jobs status echo 0198c0de-… --wait",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			var ms *int64
			if cmd.Flags().Changed("ttl") {
				n := ttl.Milliseconds()
				ms = &n
			}

			j.listen(&w, follow)
			job, document, err := j.status(cmd.Context(), args[1], ms)
			if err != nil {
				return err
			}
			return j.finish(&w, follow, job, document)
		},
	}

	cmd.Flags().DurationVar(&ttl, "ttl", 0, "let the job live this much longer, from now")
	addFollow(cmd, &w, &follow)
	return cmd
}

func newStreamCommand() *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:   "stream ENDPOINT JOB",
		Short: "Print what a job streams, until it has ended",
		Long: `Print what a job streams, until it has ended, as berth jobs run --follow does. A chunk is handed over once: of two who read
a stream each gets a part.`,
		Example: "  berth jobs stream words 0198c0de-…",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			job, document, err := j.status(cmd.Context(), args[1], nil)
			if err != nil {
				return err
			}
			return j.finish(&w, true, job, document)
		},
	}

	w.addTimeout(cmd, 0)
	return cmd
}

func newCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "cancel ENDPOINT JOB",
		Short:   "Cancel a job; one that has ended stays as it is",
		Example: "  berth jobs cancel words 0198c0de-…",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			job, document, err := j.job(cmd.Context(), 0, func(ctx context.Context) (*http.Response, error) {
				return j.queue.Cancel(ctx, j.endpoint, args[1])
			})
			if err != nil {
				return err
			}

			return j.print(job, document)
		},
	}
}

func newRetryCommand() *cobra.Command {
	var w waiting
	var follow bool
	cmd := &cobra.Command{
		Use:     "retry ENDPOINT JOB",
		Short:   "Run a job again that failed or timed out",
		Example: "  berth jobs retry words 0198c0de-… --wait",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			j.listen(&w, follow)
			job, document, err := j.job(cmd.Context(), 0, func(ctx context.Context) (*http.Response, error) {
				return j.queue.Retry(ctx, j.endpoint, args[1])
			})
			if err != nil {
				return err
			}

			return j.finish(&w, follow, job, document)
		},
	}

	addFollow(cmd, &w, &follow)
	return cmd
}

func newPurgeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "purge ENDPOINT",
		Short:   "Cancel every waiting job; those in progress go on",
		Example: "  berth jobs purge words",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			purged, document, err := fetch[queue.Purged](cmd.Context(), j.connection, func(ctx context.Context) (*http.Response, error) {
				return j.queue.PurgeQueue(ctx, j.endpoint)
			})
			if err != nil {
				return j.hint(err)
			}
			if asJSON(cmd) {
				return printDocument(cmd, document)
			}

			return say(cmd, fmt.Sprintf("removed %d jobs", purged.Removed))
		},
	}
}

func newHealthCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "health ENDPOINT",
		Short:   "Count the jobs and workers of an endpoint",
		Example: "  berth jobs health words --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			h, document, err := fetch[queue.Health](cmd.Context(), j.connection, func(ctx context.Context) (*http.Response, error) {
				return j.queue.Health(ctx, j.endpoint)
			})
			if err != nil {
				return j.hint(err)
			}
			if asJSON(cmd) {
				return printDocument(cmd, document)
			}

			type count struct {
				of, is string
				n      int64
			}
			return printTable(cmd, []column[count]{
				{head: "WHAT", value: func(c count) string { return c.of }},
				{head: "STATE", value: func(c count) string { return c.is }},
				{head: "NUMBER", value: func(c count) string { return textOf(c.n) }},
			}, []count{
				{"jobs", "in queue", h.Jobs.InQueue}, {"jobs", "in progress", h.Jobs.InProgress}, {"jobs", "completed", h.Jobs.Completed},
				{"jobs", "failed", h.Jobs.Failed}, {"jobs", "retried", h.Jobs.Retried},
				{"workers", "idle", h.Workers.Idle}, {"workers", "running", h.Workers.Running}, {"workers", "initializing", h.Workers.Initializing},
				{"workers", "ready", h.Workers.Ready}, {"workers", "throttled", h.Workers.Throttled}, {"workers", "unhealthy", h.Workers.Unhealthy},
			})
		},
	}
}
