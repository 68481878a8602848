package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

var refusalColumns = []column[controls.Refusal]{
	{head: "MINUTE", value: func(r controls.Refusal) string { return textOf(r.Minute) }},
	{head: "CLIENT", value: func(r controls.Refusal) string { return pointed(r.Client) }},
	{head: "USER", value: func(r controls.Refusal) string { return pointed(r.User) }},
	{head: "KEY", value: func(r controls.Refusal) string { return pointed(r.Key) }},
	{head: "INTERFACE", value: func(r controls.Refusal) string { return string(r.Interface) }},
	{head: "REASON", value: func(r controls.Refusal) string { return string(r.Reason) }},
	{head: "COUNT", value: func(r controls.Refusal) string { return textOf(r.Count) }},
}

func newAuditRefusalsCommand() *cobra.Command {
	var user, key, client string
	var limit int
	cmd := &cobra.Command{
		Use: "refusals", Short: "List who was refused, the last minute first", Args: cobra.NoArgs,
		Long: `List who was refused, the last minute first: requests without a key, with one that is malformed, unknown, expired or revoked, or that lacks the
scope, and logins by SSH with a key that the account does not have. All that one client was refused in a minute with one key for one reason is
one line with the count. It takes a key with the scope admin. The key itself is never shown, but its id.`,
		Example: `  berth audit refusals --since 2026-11-23T08:00:00Z
  berth audit refusals --client 192.0.2.7
  berth audit refusals --json | jq '[.refusals[].count] | add'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return misuse(fmt.Errorf("--limit: %d is less than 1", limit), "")
			}
			p := &controls.ListRefusalsParams{}
			for flag, to := range map[string]**time.Time{"since": &p.Since, "until": &p.Until} {
				at, err := timeFlag(cmd, flag)
				if err != nil {
					return err
				}
				*to = at
			}
			for text, to := range map[*string]**string{&user: &p.User, &key: &p.Key, &client: &p.Client} {
				if *text != "" {
					*to = text
				}
			}

			c, err := connect(cmd)
			if err != nil {
				return err
			}
			return listRefusals(cmd, c, p, limit)
		},
	}

	flags := cmd.Flags()
	flags.String("since", "", "the beginning of the first minute, such as 2026-11-23T08:00:00Z")
	flags.String("until", "", "the time before which the last minute begins")
	flags.StringVar(&client, "client", "", "the address that it came from")
	flags.StringVar(&user, "user", "", "whose key it was")
	flags.StringVar(&key, "with-key", "", "the id of the key, or the fingerprint of one of SSH")
	flags.IntVar(&limit, "limit", listedAudit, "how many to list at most")
	return cmd
}

// listRefusals reads pages until there are as many entries as are asked for, and prints them.
func listRefusals(cmd *cobra.Command, c *connection, p *controls.ListRefusalsParams, limit int) error {
	list := controls.RefusalList{Refusals: []controls.Refusal{}}
	err := readPages(limit, func(most int64, cursor *string) (int, controls.Pagination, error) {
		p.Limit, p.Cursor = &most, cursor
		page, _, err := fetch[controls.RefusalList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.ListRefusals(ctx, p) })
		list.Refusals, list.Pagination = append(list.Refusals, page.Refusals...), page.Pagination
		return len(page.Refusals), page.Pagination, err
	})
	if err != nil {
		return err
	}

	if asJSON(cmd) {
		return printJSON(cmd, list)
	}
	if err := printTable(cmd, refusalColumns, list.Refusals); err != nil || !list.Pagination.HasNextPage {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "these are %d; there are more: --limit shows them\n", len(list.Refusals))
	return err
}
