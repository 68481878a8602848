package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
)

// historyCommand shows samples, of what the first argument names if it takes one. L is the document, T a sample.
func historyCommand[L, T any](cmd *cobra.Command, columns []column[T], samples func(L) []T, find func(*connection, context.Context, string) (string, error),
	ask func(ctx context.Context, c *connection, id string) (*http.Response, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := connect(cmd)
		if err != nil {
			return err
		}
		id := ""
		if find != nil {
			if id, err = find(c, cmd.Context(), args[0]); err != nil {
				return err
			}
		}

		history, document, err := fetch[L](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return ask(ctx, c, id) })
		if err != nil || asJSON(cmd) {
			return orPrint(cmd, document, err)
		}
		return printTable(cmd, columns, samples(history))
	}
	return cmd
}

func newHistoryCommand() *cobra.Command {
	return historyCommand(&cobra.Command{
		Use: "history", Short: "Show how everything stood in the last hour", Args: cobra.NoArgs,
		Long: `Show how many pods, workers and jobs of all users there were in the last hour, for keys with the scope admin. Those of one endpoint are berth
endpoints history, what a pod used is berth pods history.`,
		Example: "  berth history\n  berth history --json | jq '.samples[-1].waiting'",
	}, []column[controls.FleetSample]{
		{head: "AT", value: func(s controls.FleetSample) string { return textOf(s.At) }},
		{head: "PODS", value: func(s controls.FleetSample) string { return textOf(s.Pods) }},
		{head: "ENDPOINTS", value: func(s controls.FleetSample) string { return textOf(s.Endpoints) }},
		{head: "WORKERS", value: func(s controls.FleetSample) string { return textOf(s.Workers) }},
		{head: "WAITING", value: func(s controls.FleetSample) string { return textOf(s.Waiting) }},
		{head: "IN PROGRESS", value: func(s controls.FleetSample) string { return textOf(s.InProgress) }},
		{head: "COMPLETED", value: func(s controls.FleetSample) string { return textOf(s.Completed) }},
		{head: "FAILED", value: func(s controls.FleetSample) string { return textOf(s.Failed) }},
	}, func(h controls.FleetHistory) []controls.FleetSample { return h.Samples }, nil,
		func(ctx context.Context, c *connection, _ string) (*http.Response, error) {
			return c.controls.GetHistory(ctx)
		})
}

func newEndpointHistoryCommand(r *resource[rest.Endpoint]) *cobra.Command {
	return historyCommand(&cobra.Command{
		Use: "history ENDPOINT", Short: "Show how the jobs and workers of an endpoint stood in the last hour", Args: cobra.ExactArgs(1),
		Example: "  berth endpoints history words", ValidArgsFunction: r.ids().first().values,
	}, []column[controls.EndpointSample]{
		{head: "AT", value: func(s controls.EndpointSample) string { return textOf(s.At) }},
		{head: "WAITING", value: func(s controls.EndpointSample) string { return textOf(s.Waiting) }},
		{head: "IN PROGRESS", value: func(s controls.EndpointSample) string { return textOf(s.InProgress) }},
		{head: "COMPLETED", value: func(s controls.EndpointSample) string { return textOf(s.Completed) }},
		{head: "FAILED", value: func(s controls.EndpointSample) string { return textOf(s.Failed) }},
		{head: "IDLE", value: func(s controls.EndpointSample) string { return textOf(s.Idle) }},
		{head: "RUNNING", value: func(s controls.EndpointSample) string { return textOf(s.Running) }},
		{head: "INITIALIZING", value: func(s controls.EndpointSample) string { return textOf(s.Initializing) }},
		{head: "THROTTLED", value: func(s controls.EndpointSample) string { return textOf(s.Throttled) }},
		{head: "UNHEALTHY", value: func(s controls.EndpointSample) string { return textOf(s.Unhealthy) }},
	}, func(h controls.EndpointHistory) []controls.EndpointSample { return h.Samples }, (*connection).endpoint,
		func(ctx context.Context, c *connection, id string) (*http.Response, error) {
			return c.controls.GetEndpointHistory(ctx, id)
		})
}

func newPodHistoryCommand(r *resource[rest.Pod]) *cobra.Command {
	return historyCommand(&cobra.Command{
		Use: "history POD", Short: "Show what a pod used in the last hour, while it was RUNNING", Args: cobra.ExactArgs(1),
		Example: "  berth pods history first", ValidArgsFunction: r.ids().first().values,
	}, []column[controls.PodSample]{
		{head: "AT", value: func(s controls.PodSample) string { return textOf(s.At) }},
		{head: "CPU", value: func(s controls.PodSample) string { return percent(s.CPUPercent) }},
		{head: "MEMORY", value: func(s controls.PodSample) string { return percent(s.MemoryPercent) }},
		{head: "GPUS", value: func(s controls.PodSample) string {
			var all []string
			for _, g := range s.Gpus {
				all = append(all, gpuUse(g))
			}
			return textOf(all)
		}},
	}, func(h controls.PodHistory) []controls.PodSample { return h.Samples }, (*connection).pod,
		func(ctx context.Context, c *connection, id string) (*http.Response, error) {
			return c.controls.GetPodHistory(ctx, id)
		})
}

func gpuUse(g controls.GpuSample) string {
	return fmt.Sprintf("%s, memory %s", percent(&g.Percent), percent(&g.MemoryPercent))
}

// percent writes a share, a dash if it was not measured.
func percent(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", *p)
}
