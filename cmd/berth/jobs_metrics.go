package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/queue"
)

var metricsColumns = []column[queue.Metrics]{
	{head: "IDLE", value: func(m queue.Metrics) string { return textOf(m.Workers.Idle) }},
	{head: "RUNNING", value: func(m queue.Metrics) string { return textOf(m.Workers.Running) }},
	{head: "INITIALIZING", value: func(m queue.Metrics) string { return textOf(m.Workers.Initializing) }},
	{head: "THROTTLED", value: func(m queue.Metrics) string { return textOf(m.Workers.Throttled) }},
	{head: "UNHEALTHY", value: func(m queue.Metrics) string { return textOf(m.Workers.Unhealthy) }},
	{head: "READY", value: func(m queue.Metrics) string { return textOf(m.Workers.Ready) }},
	{head: "READY WORKERS", value: func(m queue.Metrics) string { return textOf(m.ReadyWorkers) }},
}

func newMetricsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "metrics ENDPOINT",
		Short:   "Count the workers of an endpoint, and name those that would take a job now",
		Example: "  berth jobs metrics words --json | jq -r '.readyWorkers[]'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := jobsOf(cmd, args)
			if err != nil {
				return err
			}
			m, document, err := fetch[queue.Metrics](cmd.Context(), j.connection, func(ctx context.Context) (*http.Response, error) {
				return j.queue.Metrics(ctx, j.endpoint)
			})
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, j.hint(err))
			}
			return printDetail(cmd, metricsColumns, m)
		},
	}
}
