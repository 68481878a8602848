package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

var costColumns = []column[controls.Cost]{
	{head: "KIND", value: func(x controls.Cost) string { return pointed((*string)(x.Kind)) }},
	{head: "ID", value: func(x controls.Cost) string { return pointed(x.ID) }},
	{head: "USER", value: func(x controls.Cost) string { return pointed(x.User) }},
	{head: "RAN", value: func(x controls.Cost) string { return (time.Duration(x.Milliseconds) * time.Millisecond).String() }},
	{head: "USD", value: func(x controls.Cost) string { return usd(x.Amount) }},
}

// usd writes an amount without an exponent, to the billionth at most.
func usd(amount float64) string { return strconv.FormatFloat(amount, 'f', -1, 64) }

func newCostsCommand() *cobra.Command {
	var by, user, since, until string
	var limit int64
	cmd := &cobra.Command{
		Use: "costs", Aliases: []string{"cost"}, Short: "Show what would have been paid for what ran", Args: cobra.NoArgs,
		Long: `Show what would have been paid for the pods, clusters, endpoints and network volumes of all users of a server with test controls (berth serve
--test-controls), including deleted ones, since its first start or the last reset, by its clock. The key is that of the controls, which
the server prints when it starts. The last line is the total, including what is not shown.`,
		Example: `  berth costs
  berth costs --by user --since 2026-11-23T08:00:00Z
  berth costs --limit 1 --json | jq .total`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := costsParams(cmd)
			if err != nil {
				return err
			}
			return controlled(cmd, "the costs take", func(c *connection) error { return printCosts(cmd, c, p) })
		},
	}

	flags := cmd.Flags()
	flags.StringVar(&by, "by", "resource", "what each line covers: resource, kind or user")
	flags.StringVar(&user, "user", "", "show only the costs of this user")
	flags.StringVar(&since, "since", "", "the time from which on costs are counted, such as 2026-11-23T08:00:00Z")
	flags.StringVar(&until, "until", "", "the time up to which they are counted")
	flags.Int64Var(&limit, "limit", 100, "how many lines there are at most, the highest costs; 1000 at most")
	return cmd
}

// costsParams gives the flags as the server takes them; the error names the flag that makes no sense.
func costsParams(cmd *cobra.Command) (*controls.GetCostsParams, error) {
	flags := cmd.Flags()
	text, _ := flags.GetString("by")
	by := controls.GetCostsParamsBy(text)
	if !by.Valid() {
		return nil, choiceError("--by", text, []string{"resource", "kind", "user"})
	}
	limit, _ := flags.GetInt64("limit")
	p := &controls.GetCostsParams{By: &by, Limit: &limit}
	if user, _ := flags.GetString("user"); user != "" {
		p.User = &user
	}

	var err error
	if p.Since, err = timeFlag(cmd, "since"); err != nil {
		return nil, err
	}
	p.Until, err = timeFlag(cmd, "until")
	return p, err
}

// printCosts prints a table of the costs and their total.
func printCosts(cmd *cobra.Command, c *connection, p *controls.GetCostsParams) error {
	costs, document, err := fetch[controls.Costs](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
		return c.controls.GetCosts(ctx, p)
	})
	if err != nil || asJSON(cmd) {
		return orPrint(cmd, document, err)
	}

	if err := printTable(cmd, costColumns, costs.Costs); err != nil {
		return err
	}
	hidden := ""
	if more := costs.Count - int64(len(costs.Costs)); more > 0 {
		hidden = fmt.Sprintf(", with %d that are not shown", more)
	}
	return say(cmd, fmt.Sprintf("total: %s USD%s", usd(costs.Total), hidden))
}
