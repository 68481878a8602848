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

// listedAudit is how many entries are listed unless the caller says otherwise.
const listedAudit = 50

var auditColumns = []column[controls.AuditEntry]{
	{head: "AT", value: func(e controls.AuditEntry) string { return textOf(e.At) }},
	{head: "USER", value: func(e controls.AuditEntry) string { return pointed(e.User) }},
	{head: "KEY", value: func(e controls.AuditEntry) string { return pointed(e.Key) }},
	{head: "CLIENT", value: func(e controls.AuditEntry) string { return pointed(e.Client) }},
	{head: "OPERATION", value: func(e controls.AuditEntry) string { return e.Operation }},
	{head: "KIND", value: func(e controls.AuditEntry) string { return string(e.Kind) }},
	{head: "ID", value: func(e controls.AuditEntry) string { return pointed(e.ID) }},
	{head: "CHANGE", value: func(e controls.AuditEntry) string { return string(e.Change) }},
	{head: "FIELDS", value: func(e controls.AuditEntry) string { return orDash(strings.Join(e.Fields, " ")) }},
}

func newAuditCommand() *cobra.Command {
	var user, key, kind, id, operation string
	var limit int
	cmd := &cobra.Command{
		Use: "audit", Short: "List who changed what, the last change first", Args: cobra.NoArgs,
		Long: `List who changed what, the last change first: with which key, when, from where, by which operation, and the names of the fields that changed,
but never their values. A key with the scope rest:read sees what the keys of its account did, and one with the scope admin sees everything. Jobs have no
entries. The server keeps entries for as long as its setting audit-retention says.`,
		Example: `  berth audit --kind pod --id f08vqgrv1p2xkd
  berth audit --since 2026-11-23T08:00:00Z --with-key gbeykwuu82
  berth audit --limit 1000 --json | jq -r '.entries[] | [.at, .user, .operation, .id] | @tsv'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return misuse(fmt.Errorf("--limit: %d is less than 1", limit), "")
			}
			p := &controls.ListAuditParams{}
			for flag, to := range map[string]**time.Time{"since": &p.Since, "until": &p.Until} {
				at, err := timeFlag(cmd, flag)
				if err != nil {
					return err
				}
				*to = at
			}
			for text, to := range map[*string]**string{&user: &p.User, &key: &p.Key, &id: &p.ID, &operation: &p.Operation} {
				if *text != "" {
					*to = text
				}
			}
			if kind != "" {
				p.Kind = new(controls.AuditKind(kind))
			}

			c, err := connect(cmd)
			if err != nil {
				return err
			}
			return listAudit(cmd, c, p, limit)
		},
	}

	cmd.AddCommand(newAuditRefusalsCommand())
	flags := cmd.Flags()
	flags.String("since", "", "only what was done at this time or later, such as 2026-11-23T08:00:00Z")
	flags.String("until", "", "only what was done before this time")
	flags.StringVar(&user, "user", "", "only what was done with keys of this user")
	flags.StringVar(&key, "with-key", "", "the id of the key that it was done with, or the fingerprint of one of SSH")
	flags.StringVar(&kind, "kind", "", "the kind of what was changed, such as pod, endpoint or key")
	flags.StringVar(&id, "id", "", "the id of what was changed")
	flags.StringVar(&operation, "operation", "", "the operation that was requested, such as updatePod")
	flags.IntVar(&limit, "limit", listedAudit, "how many to list at most")
	return cmd
}

// listAudit reads pages until there are as many entries as are asked for, and prints them.
func listAudit(cmd *cobra.Command, c *connection, p *controls.ListAuditParams, limit int) error {
	list := controls.AuditList{Entries: []controls.AuditEntry{}}
	err := readPages(limit, func(most int64, cursor *string) (int, controls.Pagination, error) {
		p.Limit, p.Cursor = &most, cursor
		page, _, err := fetch[controls.AuditList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.ListAudit(ctx, p) })
		list.Entries, list.Pagination = append(list.Entries, page.Entries...), page.Pagination
		return len(page.Entries), page.Pagination, err
	})
	if err != nil {
		return err
	}

	if asJSON(cmd) {
		return printJSON(cmd, list)
	}
	if err := printTable(cmd, auditColumns, list.Entries); err != nil || !list.Pagination.HasNextPage {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "these are %d; there are more: --limit shows them\n", len(list.Entries))
	return err
}
