package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

// whyCommand asks why something does not go on; find gives the id of what the user named, nil takes that as the id.
func whyCommand(use, short, example, hint string, find func(*connection, context.Context, string) (string, error), ask func(context.Context, *connection, string) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id := args[0]
			if find != nil {
				if id, err = find(c, cmd.Context(), id); err != nil {
					return err
				}
			}

			answer, document, err := fetch[controls.Why](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return ask(ctx, c, id) })
			if isStatus(err, http.StatusNotFound) {
				err = hinted(err, hint)
			}
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, err)
			}
			return printWhy(cmd, answer)
		},
	}
}

func newJobsWhyCommand() *cobra.Command {
	return whyCommand("why JOB", "Say why a job does not go on, and what would help", "  berth jobs why 0198c0de-…", "berth jobs list shows those that there are", nil,
		func(ctx context.Context, c *connection, id string) (*http.Response, error) {
			return c.controls.WhyJob(ctx, id)
		})
}

func newPodsWhyCommand() *cobra.Command {
	cmd := whyCommand("why POD", "Say why a pod does not run, and what would help", "  berth pods why k3v9x2m1q8w7rt", "berth pods list shows those that there are", (*connection).pod,
		func(ctx context.Context, c *connection, id string) (*http.Response, error) {
			return c.controls.WhyPod(ctx, id)
		})
	cmd.ValidArgsFunction = idsOf(pods).first().values
	return cmd
}

func newEndpointsWhyCommand() *cobra.Command {
	cmd := whyCommand("why ENDPOINT", "Say why the workers of an endpoint do not take up its jobs, and what would help", "  berth endpoints why words",
		"berth endpoints list shows those that there are", (*connection).endpoint,
		func(ctx context.Context, c *connection, id string) (*http.Response, error) {
			return c.controls.WhyEndpoint(ctx, id)
		})
	cmd.ValidArgsFunction = idsOf(endpoints).first().values
	return cmd
}

var whyColumns = []column[controls.Why]{
	{head: "WAITS", value: func(w controls.Why) string { return textOf(w.Waits) }},
	{head: "REASON", value: func(w controls.Why) string { return string(w.Reason) }},
	{head: "BECAUSE", value: func(w controls.Why) string { return w.Because }},
	{head: "SINCE", value: func(w controls.Why) string { return pointed(w.Since) }},
	{head: "HELPS", value: func(w controls.Why) string { return pointed(w.Helps) }},
	{head: "WORKER", value: func(w controls.Why) string { return pointed(w.Details.WorkerID) }},
	{head: "HOST", value: func(w controls.Why) string { return pointed(w.Details.HostID) }},
	{head: "ATTEMPTS", value: func(w controls.Why) string { return pointed(w.Details.Attempts) }},
	{head: "AHEAD", value: func(w controls.Why) string { return pointed(w.Details.Ahead) }},
	{head: "EXIT CODE", value: func(w controls.Why) string { return pointed(w.Details.ExitCode) }},
	{head: "HTTP", value: func(w controls.Why) string { return textOf(w.Details.Addresses) }},
	{head: "NEXT AT", value: func(w controls.Why) string { return pointed(w.Details.NextAt) }},
}

// printWhy prints a reason without what it does not have, and the last lines of the log below it.
func printWhy(cmd *cobra.Command, answer controls.Why) error {
	var told []column[controls.Why]
	for _, one := range whyColumns {
		if one.value(answer) != "-" {
			told = append(told, one)
		}
	}
	if err := printDetail(cmd, told, answer); err != nil || len(answer.Details.Lines) == 0 || idsAlone(cmd) {
		return err
	}

	var text strings.Builder
	text.WriteString("the last lines of its log\n")
	for _, line := range answer.Details.Lines {
		fmt.Fprintf(&text, "  %s\n", oneLine(line))
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), text.String())
	return err
}
