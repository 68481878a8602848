package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newWebhooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Aliases: []string{"webhook"}, Short: "Read the log of webhooks, and deliver them again",
		Long: `Read what a server with test controls (berth serve --test-controls) delivered to the webhooks of jobs, and deliver it again. The key is that of
the controls, which the server prints when it starts. What its own inbox received, /_berth/inbox/<any name>, is in the journal:
berth journal list --operation receiveWebhook.`,
	}
	cmd.AddCommand(newWebhooksListCommand(), newWebhooksDeliverCommand())
	return cmd
}

var webhookColumns = []column[controls.Webhook]{
	{head: "NUMBER", value: func(w controls.Webhook) string { return textOf(w.Number) }},
	{head: "JOB", value: func(w controls.Webhook) string { return w.Job }},
	{head: "TRIES", value: func(w controls.Webhook) string { return textOf(w.Tries) }},
	{head: "STATUS", value: func(w controls.Webhook) string { return textOf(w.Status) }},
	{head: "NEXT", value: nextTry},
	{head: "URL", value: func(w controls.Webhook) string { return w.URL }},
	{head: "ERROR", value: func(w controls.Webhook) string { return orDash(w.Error) }, wide: true},
}

// nextTry is when a delivery is tried again.
func nextTry(w controls.Webhook) string {
	if at, err := w.NextAt.Get(); err == nil {
		return textOf(at)
	}
	return "-"
}

func newWebhooksListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the last deliveries, newest first", Args: cobra.NoArgs,
		Example: "  berth webhooks list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, "the log of webhooks takes", func(c *connection) error {
				list, document, err := fetch[controls.WebhookList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.GetWebhooks(ctx)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return printTable(cmd, webhookColumns, list.Webhooks)
			})
		},
	}
}

func newWebhooksDeliverCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deliver NUMBER", Short: "Deliver a webhook once more, with the document of its job as it is now", Args: cobra.ExactArgs(1),
		Example: "  berth webhooks deliver 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || number < 1 {
				return misuse(fmt.Errorf("NUMBER: %q is no number of a delivery", args[0]), "berth webhooks list shows them")
			}
			return controlled(cmd, "the log of webhooks takes", func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.DeliverWebhook(ctx, number) })
				return err
			})
		},
	}
}
