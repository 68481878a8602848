package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

var sessionColumns = []column[controls.Session]{
	{head: "ID", value: func(s controls.Session) string { return s.Key.ID }},
	{head: "NAME", value: func(s controls.Session) string { return orDash(s.Key.Name) }},
	{head: "USER", value: func(s controls.Session) string { return s.Key.User }},
	{head: "SCOPES", value: func(s controls.Session) string { return textOf(s.Key.Scopes) }},
	{head: "MAY", value: func(s controls.Session) string { return textOf(rights(s.May)) }},
	{head: "EXPIRES", value: func(s controls.Session) string { return pointed(s.Key.ExpiresAt) }},
	{head: "SPEND LIMIT", value: func(s controls.Session) string { return pointed(s.Key.SpendLimit) }},
	{head: "SERVER", value: func(s controls.Session) string { return s.Version }},
	{head: "CONTRACT", value: func(s controls.Session) string { return s.Contract }},
	{head: "RUNTIME", value: func(s controls.Session) string { return s.Runtime }},
	{head: "TEST CONTROLS", value: func(s controls.Session) string { return textOf(s.TestControls) }},
}

// rights names what a key may do.
func rights(may controls.SessionRights) (all []string) {
	for _, one := range []struct {
		may  bool
		name string
	}{{may.Read, "read"}, {may.Write, "write"}, {may.Invoke, "invoke"}, {may.Graphql, "graphql"}, {may.Hosts, "hosts"}, {may.Controls, "controls"}} {
		if one.may {
			all = append(all, one.name)
		}
	}
	return all
}

func newWhoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show which key is used, whose it is, what it permits, and what the server is", Args: cobra.NoArgs,
		Long:    "Show which key is used, whose it is, what it permits, and what the server is. The key itself is not shown.",
		Example: "  berth whoami\n  berth whoami --json | jq .may",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			session, document, err := fetch[controls.Session](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.GetSession(ctx) })
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, err)
			}
			return printDetail(cmd, sessionColumns, session)
		},
	}
}
