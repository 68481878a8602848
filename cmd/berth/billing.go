package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
)

// billed is a record of a bill: of what it is, the time that it begins with, and its amounts in USD by name.
type billed struct {
	id      string
	from    time.Time
	amounts []amount
	total   float64
}

// amount is a part of what was billed.
type amount struct {
	name string
	usd  float64
}

var billColumns = []column[billed]{
	{head: "FROM", value: func(b billed) string { return textOf(b.from) }},
	{head: "ID", value: func(b billed) string { return orDash(b.id) }},
	{head: "FOR", value: func(b billed) string {
		var all []string
		for _, a := range b.amounts {
			if a.usd != 0 {
				all = append(all, fmt.Sprintf("%s %s", a.name, usd(a.usd)))
			}
		}
		return textOf(all)
	}},
	{head: "USD", value: func(b billed) string { return usd(b.total) }},
}

// window is what part of a bill is asked for: the members of the parameters that all bills have.
type window struct {
	start, end *time.Time
	bucket     *rest.BillingBucketSize
	last       *int64
	id         *string // nil: everything of the kind
}

// bill is the bill of one kind of things. Of is the flag that names one of them; empty: there is no such.
type bill struct {
	use, short, example string
	aliases             []string
	of                  string
	find                func(ctx context.Context, c *connection, named string) (string, error)
	offer               completion
	ask                 func(ctx context.Context, c *connection, w window) (*http.Response, error)
	read                func(c *connection, document []byte) (records []billed, total float64, err error)
}

func newBillingCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "billing", Aliases: []string{"bill"}, Short: "Read what you are billed",
		Long: `Read what you are billed for pods, endpoints, volumes and clusters, by the hour, the day and so on. Without --since it goes back 30 days. The
last line is the total. berth costs shows what a server with test controls would have billed everybody.`,
	}
	for _, b := range bills() {
		cmd.AddCommand(b.command())
	}
	return cmd
}

func (b bill) command() *cobra.Command {
	cmd := &cobra.Command{
		Use: b.use, Aliases: b.aliases, Short: b.short, Example: b.example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := windowOf(cmd)
			if err != nil {
				return err
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			if b.of != "" {
				if named, _ := cmd.Flags().GetString(b.of); named != "" {
					id, err := b.find(cmd.Context(), c, named)
					if err != nil {
						return err
					}
					w.id = &id
				}
			}
			return b.print(cmd, c, w)
		},
	}

	flags := cmd.Flags()
	flags.String("since", "", "the time or day from which on it is shown, such as 2026-11-23T08:00:00Z or 2026-11-23")
	flags.String("until", "", "the time or day up to which it is shown")
	flags.String("by", string(rest.BillingBucketSizeDay), "what each line covers: hour, day, week, month or year, in UTC")
	flags.Int64("last", 0, "show this many hours, days and so on, including the present one, instead of --since and --until")
	cmd.MarkFlagsMutuallyExclusive("last", "since")
	cmd.MarkFlagsMutuallyExclusive("last", "until")
	_ = cmd.RegisterFlagCompletionFunc("by", words(bucketSizes...).values)
	if b.of != "" {
		flags.String(b.of, "", "only this one, by id or name; by id also one that is deleted")
		_ = cmd.RegisterFlagCompletionFunc(b.of, b.offer.values)
	}
	return cmd
}

var bucketSizes = []string{"hour", "day", "week", "month", "year"}

// windowOf reads the flags; the error names the flag that makes no sense.
func windowOf(cmd *cobra.Command) (w window, err error) {
	flags := cmd.Flags()
	text, _ := flags.GetString("by")
	bucket := rest.BillingBucketSize(text)
	if !bucket.Valid() {
		return w, choiceError("--by", text, bucketSizes)
	}
	w.bucket = &bucket
	if flags.Changed("last") {
		last, _ := flags.GetInt64("last")
		if last < 1 {
			return w, misuse(fmt.Errorf("--last: %d is less than 1", last), "")
		}
		w.last = &last
	}
	if w.start, err = timeFlag(cmd, "since"); err == nil {
		w.end, err = timeFlag(cmd, "until")
	}
	return w, err
}

// print prints the records of a bill and their total.
func (b bill) print(cmd *cobra.Command, c *connection, w window) error {
	document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return b.ask(ctx, c, w) })
	if err != nil || asJSON(cmd) {
		return orPrint(cmd, document, err)
	}
	records, total, err := b.read(c, document)
	if err != nil {
		return err
	}
	if err := printTable(cmd, billColumns, records); err != nil {
		return err
	}
	return say(cmd, fmt.Sprintf("total: %s USD", usd(total)))
}
