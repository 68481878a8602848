package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/record"
	"github.com/berthdev/berth/spec"
)

// compareCommand is what its flags say.
type compareCommand struct {
	left, right, against   upstreamFlags
	keyLeft, keyRight, key string
	contract               string
	ignore, ignoreHeaders  []string
	exact                  bool
	patience               time.Duration
}

func newCompareCommand() *cobra.Command {
	var c compareCommand
	cmd := &cobra.Command{
		Use: "compare FILE", Short: "Send recorded requests to two services, and say where they answer differently", Args: cobra.ExactArgs(1),
		Long: `Send the requests of a recording to two services, in their order, and print where the answers differ: in status, in headers, in members of the body, and
where one breaks the documents of its edition. Each difference has the edition and the ids of the rules about it. With --against there is only one service,
and its answers are compared with the recorded ones. The exit code is 1 if there is a difference, 4 if a service is not reached.

Ids are matched: if the two services give different ids to the same thing, later requests use the id of the service that they go to. Times, ids, prices,
stock, measurements, request ids and counters of limits are not compared by value; docs/record.md lists them, and --exact compares them too. A request that
reads something that takes time is repeated until it has the recorded status.

The requests are real: they create and delete, and what they create may cost. Secrets are not in a recording: what is created has *** in their place, and a
request that would change something and has a secret in its body is not sent.`,
		Example: `  berth compare session.jsonl --against http://127.0.0.1:8765 --key $BERTH_KEY
  BERTH_KEY_LEFT=... BERTH_KEY_RIGHT=... berth compare session.jsonl --left https://rest.example.com --queue-left https://api.example.com --right http://127.0.0.1:8765
  berth compare session.jsonl --against http://127.0.0.1:8765 --ignore '/pods/*/dataCenterId' --ignore createPod/name --ignore-header Location --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}

	flags := cmd.Flags()
	flags.StringVar(&c.left.rest, "left", "", "base address of the one service")
	flags.StringVar(&c.left.queue, "queue-left", "", "base address of its queue, if that is different")
	flags.StringVar(&c.left.graphql, "graphql-left", "", "base address of its GraphQL, if that is different")
	flags.StringVar(&c.right.rest, "right", "", "base address of the other service")
	flags.StringVar(&c.right.queue, "queue-right", "", "base address of its queue, if that is different")
	flags.StringVar(&c.right.graphql, "graphql-right", "", "base address of its GraphQL, if that is different")
	flags.StringVar(&c.against.rest, "against", "", "base address of a service that is compared with the recorded answers")
	flags.StringVar(&c.against.queue, "queue-against", "", "base address of its queue, if that is different")
	flags.StringVar(&c.against.graphql, "graphql-against", "", "base address of its GraphQL, if that is different")
	flags.StringVar(&c.key, "key", "", "key for the service, or for both; better given as BERTH_KEY, since others see command lines")
	flags.StringVar(&c.keyLeft, "key-left", "", "key for the one service, if it has a key of its own; better given as BERTH_KEY_LEFT")
	flags.StringVar(&c.keyRight, "key-right", "", "key for the other service, if it has a key of its own; better given as BERTH_KEY_RIGHT")
	flags.StringVar(&c.contract, "contract", "", "the edition of answers that name none: "+strings.Join(app.Contracts(), ", ")+"; without it the strict one")
	flags.StringArrayVar(&c.ignore, "ignore", nil, "a JSON Pointer to what is not compared in bodies, with * for any step, and an operation before it if it is about one; repeatable")
	flags.StringArrayVar(&c.ignoreHeaders, "ignore-header", nil, "the name of a header that is not compared; repeatable")
	flags.BoolVar(&c.exact, "exact", false, "compare by value what is never the same, too")
	waitingVar(flags, &c.patience, "patience", 30*time.Second, "how long to wait for the recorded status")
	asSettings(flags, "key")
	_ = cmd.RegisterFlagCompletionFunc("contract", cobra.FixedCompletions(app.Contracts(), cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsRequiredTogether("left", "right")
	cmd.MarkFlagsMutuallyExclusive("left", "against")
	cmd.MarkFlagsOneRequired("left", "against")
	return cmd
}

// comparison gives what the flags ask for.
func (c *compareCommand) comparison() (*record.Comparison, error) {
	if c.contract != "" {
		name, err := app.Contract(c.contract)
		if err != nil {
			return nil, misuse(fmt.Errorf("--contract: %w", err), "")
		}
		c.contract = name
	}
	for _, pointer := range c.ignore {
		if !strings.Contains(pointer, "/") {
			return nil, misuse(fmt.Errorf("--ignore: %q is not a JSON Pointer such as /pods/0/name, nor an operation and one, such as createPod/name", pointer), "")
		}
	}

	made := &record.Comparison{
		Contract: c.contract, Ignore: c.ignore, IgnoreHeaders: c.ignoreHeaders, Exact: c.exact, Patience: c.patience, Rules: rulesIn(),
	}
	for _, side := range []struct {
		flag, suffix, key string
		from              upstreamFlags
		to                **record.Target
	}{
		{"left", "left", keyOf(c.keyLeft, "BERTH_KEY_LEFT", c.key), c.left, &made.Left},
		{"right", "right", keyOf(c.keyRight, "BERTH_KEY_RIGHT", c.key), c.right, &made.Right},
		{"against", "against", c.key, c.against, &made.Right},
	} {
		if side.from == (upstreamFlags{}) {
			continue
		}
		upstream, err := side.from.read(side.flag, "queue-"+side.suffix, "graphql-"+side.suffix)
		if err != nil {
			return nil, err
		}
		*side.to = &record.Target{Upstream: upstream, Key: side.key}
	}
	return made, nil
}

// rulesIn gives the rules of an edition with their sentences, each edition's once.
func rulesIn() func(edition string) []record.Rule {
	made := map[string][]record.Rule{}
	return func(edition string) []record.Rule {
		if made[edition] == nil {
			says := map[string]string{}
			documented, _ := spec.Rules() // it is embedded
			for _, r := range documented {
				says[r.ID] = r.Says
			}
			rules, _ := conformance.RulesOf(edition) // likewise
			for _, r := range rules {
				made[edition] = append(made[edition], record.Rule{ID: r.ID, Says: says[r.ID], Operations: r.Ops})
			}
		}
		return made[edition]
	}
}

var differenceColumns = []column[record.Difference]{
	{head: "EXCHANGE", value: func(d record.Difference) string { return textOf(d.Exchange) }},
	{head: "OPERATION", value: func(d record.Difference) string { return d.Operation }},
	{head: "REQUEST", value: func(d record.Difference) string { return d.Request }, wide: true},
	{head: "KIND", value: func(d record.Difference) string { return d.Kind }},
	{head: "PLACE", value: func(d record.Difference) string { return d.Place }},
	{head: "LEFT", value: func(d record.Difference) string { return orDash(d.Left) }},
	{head: "RIGHT", value: func(d record.Difference) string { return orDash(d.Right) }},
	{head: "EDITION", value: func(d record.Difference) string { return d.Edition }},
	{head: "RULES", value: func(d record.Difference) string { return textOf(d.Rules) }},
}

func (c *compareCommand) run(cmd *cobra.Command, file string) error {
	comparison, err := c.comparison()
	if err != nil {
		return err
	}
	recording, err := readRecording(file)
	if err != nil {
		return err
	}
	keyed := slices.ContainsFunc(recording.Exchanges, func(x record.Exchange) bool { return x.Key > 0 })
	for _, side := range []*record.Target{comparison.Left, comparison.Right} {
		if keyed && side != nil && side.Key == "" {
			return misuse(fmt.Errorf("the requests were sent with a key, and there is none for %s", withoutPassword(side.REST.String())), "export BERTH_KEY, or BERTH_KEY_LEFT and BERTH_KEY_RIGHT")
		}
	}
	report, err := comparison.Run(cmd.Context(), recording)
	if err != nil {
		return err
	}

	if asJSON(cmd) {
		err = printJSON(cmd, report)
	} else {
		err = printReport(cmd, report)
	}
	if err != nil || len(report.Differences) == 0 {
		return err
	}
	if i := slices.IndexFunc(report.Differences, func(d record.Difference) bool { return d.Kind != record.Unanswered }); i < 0 {
		return &failure{code: exitUnreached, cause: errors.New("a service does not answer")}
	}
	return fmt.Errorf("%d differences", len(report.Differences))
}

// printReport prints the differences and how much was compared.
func printReport(cmd *cobra.Command, report *record.Report) error {
	if len(report.Differences) > 0 {
		if err := printTable(cmd, differenceColumns, report.Differences); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d exchanges compared, %d not (--json says why): %d differences\n", report.Compared, len(report.Skipped), len(report.Differences))
	return err
}
