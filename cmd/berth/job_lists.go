package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

// listedJobs is how many jobs are listed unless the caller says otherwise.
const listedJobs = 50

var listedJobColumns = []column[controls.ListedJob]{
	{head: "ID", value: func(j controls.ListedJob) string { return j.ID }},
	{head: "ENDPOINT", value: func(j controls.ListedJob) string { return j.EndpointID }},
	{head: "STATUS", value: func(j controls.ListedJob) string { return string(j.Status) }},
	{head: "SUBMITTED", value: func(j controls.ListedJob) string { return textOf(j.SubmittedAt) }},
	{head: "ATTEMPTS", value: func(j controls.ListedJob) string { return textOf(j.Attempts) }},
	{head: "WORKER", value: func(j controls.ListedJob) string { return pointed(j.WorkerID) }},
	{head: "DELAY", value: func(j controls.ListedJob) string { return milliseconds(j.DelayTime) }},
	{head: "EXECUTION", value: func(j controls.ListedJob) string { return milliseconds(j.ExecutionTime) }},
	{head: "ERROR", value: func(j controls.ListedJob) string { return shortened(pointed(j.Error)) }},
}

// shortened gives the beginning of a text, for a table.
func shortened(text string) string {
	const most = 60 // characters
	if all := []rune(text); len(all) > most {
		return string(all[:most]) + "…"
	}
	return text
}

func newJobsListCommand() *cobra.Command {
	var endpoint, status, from, to, text string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List and search jobs, the one that was submitted last first", Args: cobra.NoArgs,
		Long: `List and search the jobs of all your endpoints, the one that was submitted last first. Jobs are kept for 30 minutes after their end, those
of runsync for one.`,
		Example: `  berth jobs list --endpoint words --status FAILED
  berth jobs list --error "out of memory" --from 2026-11-23T08:00:00Z
  berth jobs list --status IN_QUEUE --json | jq -r '.jobs[].id'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return misuse(fmt.Errorf("--limit: %d is less than 1", limit), "")
			}
			p := &controls.ListJobsParams{}
			for flag, to := range map[string]**time.Time{"from": &p.From, "to": &p.To} {
				at, err := timeFlag(cmd, flag)
				if err != nil {
					return err
				}
				*to = at
			}
			if status != "" {
				p.Status = new(controls.ListJobsParamsStatus(strings.ToUpper(status)))
			}
			if text != "" {
				p.Error = &text
			}

			c, err := connect(cmd)
			if err != nil {
				return err
			}
			if endpoint != "" {
				id, err := endpoints().kind().find(cmd.Context(), c, endpoint)
				if err != nil {
					return err
				}
				p.EndpointID = &id
			}
			return listJobs(cmd, c, p, limit)
		},
	}

	flags := cmd.Flags()
	flags.StringVar(&endpoint, "endpoint", "", "the endpoint whose jobs they are, by its id or name")
	flags.StringVar(&status, "status", "", "IN_QUEUE, IN_PROGRESS, COMPLETED, FAILED, CANCELLED or TIMED_OUT")
	flags.StringVar(&from, "from", "", "only jobs that were submitted at this time or later, such as 2026-11-23T08:00:00Z")
	flags.StringVar(&to, "to", "", "only jobs that were submitted before this time")
	flags.StringVar(&text, "error", "", "a text that its error contains")
	flags.IntVar(&limit, "limit", listedJobs, "how many to list at most")
	return cmd
}

// timeFlag gives the time that a flag names, nil for none.
func timeFlag(cmd *cobra.Command, name string) (*time.Time, error) {
	text, _ := cmd.Flags().GetString(name)
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text) // a day begins in UTC
	}
	if err != nil {
		return nil, misuse(fmt.Errorf("--%s: %q is not a time such as 2026-11-23T08:00:00Z", name, text), "")
	}
	return &at, nil
}

// largestPage is how many things a page of a list has at most.
const largestPage = 1000

// readPages reads pages of the controls until there are as many things as are asked for. read reads one from the cursor on, of that many things
// at most, and gives how many it had.
func readPages(limit int, read func(most int64, cursor *string) (int, controls.Pagination, error)) error {
	var cursor *string
	for more := true; more; {
		had, page, err := read(int64(min(limit, largestPage)), cursor)
		if err != nil {
			return err
		}
		limit -= had
		cursor = page.NextCursor.Pointer()
		more = page.HasNextPage && cursor != nil && limit > 0
	}
	return nil
}

// listJobs reads pages until there are as many jobs as are asked for, and prints them.
func listJobs(cmd *cobra.Command, c *connection, p *controls.ListJobsParams, limit int) error {
	list := controls.JobList{Jobs: []controls.ListedJob{}}
	err := readPages(limit, func(most int64, cursor *string) (int, controls.Pagination, error) {
		p.Limit, p.Cursor = &most, cursor
		page, _, err := fetch[controls.JobList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.ListJobs(ctx, p) })
		list.Jobs, list.Pagination = append(list.Jobs, page.Jobs...), page.Pagination
		return len(page.Jobs), page.Pagination, err
	})
	if err != nil {
		return err
	}

	if asJSON(cmd) {
		return printJSON(cmd, list)
	}
	if err := printTable(cmd, listedJobColumns, list.Jobs); err != nil || !list.Pagination.HasNextPage {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "these are %d; there may be more: --limit shows them\n", len(list.Jobs))
	return err
}

var shownJobColumns = []column[controls.JobDetail]{
	{head: "ID", value: func(j controls.JobDetail) string { return j.ID }},
	{head: "ENDPOINT", value: func(j controls.JobDetail) string { return j.EndpointID }},
	{head: "STATUS", value: func(j controls.JobDetail) string { return string(j.Status) }},
	{head: "SUBMITTED", value: func(j controls.JobDetail) string { return textOf(j.SubmittedAt) }},
	{head: "QUEUED", value: func(j controls.JobDetail) string { return textOf(j.QueuedAt) }},
	{head: "STARTED", value: func(j controls.JobDetail) string { return pointed(j.StartedAt) }},
	{head: "FINISHED", value: func(j controls.JobDetail) string { return pointed(j.FinishedAt) }},
	{head: "EXPIRES", value: func(j controls.JobDetail) string { return textOf(j.ExpiresAt) }},
	{head: "ATTEMPTS", value: func(j controls.JobDetail) string { return textOf(j.Attempts) }},
	{head: "RETRIES", value: func(j controls.JobDetail) string { return textOf(j.Retries) }},
	{head: "WORKER", value: func(j controls.JobDetail) string { return pointed(j.WorkerID) }},
	{head: "DELAY", value: func(j controls.JobDetail) string { return milliseconds(j.DelayTime) }},
	{head: "EXECUTION", value: func(j controls.JobDetail) string { return milliseconds(j.ExecutionTime) }},
	{head: "EXECUTION TIMEOUT", value: func(j controls.JobDetail) string { return milliseconds(&j.ExecutionTimeout) }},
	{head: "TTL", value: func(j controls.JobDetail) string { return milliseconds(&j.TTL) }},
	{head: "SYNC", value: func(j controls.JobDetail) string { return textOf(j.Sync) }},
	{head: "LOW PRIORITY", value: func(j controls.JobDetail) string { return textOf(j.LowPriority) }},
	{head: "WEBHOOK", value: func(j controls.JobDetail) string { return pointed(j.Webhook) }},
	{head: "ERROR", value: func(j controls.JobDetail) string { return pointed(j.Error) }},
	{head: "INPUT", value: func(j controls.JobDetail) string { return jobText(j.Input) }},
	{head: "OUTPUT", value: func(j controls.JobDetail) string { return jobText(j.Output) }},
}

func jobText(t controls.JobText) string {
	if t.Truncated {
		return fmt.Sprintf("%s… (%d bytes)", t.Text, t.Length)
	}
	return orDash(t.Text)
}

func newJobsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show JOB", Short: "Show all that is known of a job, of whatever endpoint", Args: cobra.ExactArgs(1),
		Example: "  berth jobs show 0198c0de-…",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			job, document, err := fetch[controls.JobDetail](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
				return c.controls.GetJob(ctx, args[0])
			})
			if isStatus(err, http.StatusNotFound) {
				err = hinted(err, "berth jobs list shows those that there are; a job is kept for 30 minutes after its end, one of runsync for one")
			}
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, err)
			}
			return printDetail(cmd, shownJobColumns, job)
		},
	}
}
