package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newFaultsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "faults", Aliases: []string{"fault"}, Short: "Script what operations do wrong: statuses, delays, cut connections, spoiled answers",
		Long: `Script what operations of a server with test controls do wrong (berth serve --test-controls): before an operation, or after it, when its effect
is kept and its answer is not. The key is that of the controls, which the server prints when it starts.`,
	}
	cmd.AddCommand(newFaultsListCommand(), newFaultsAddCommand(), newFaultsSetCommand(), newFaultsDeleteCommand(), newFaultsClearCommand())
	return cmd
}

var faultColumns = []column[controls.ShownFault]{
	{head: "ID", value: func(f controls.ShownFault) string { return f.ID }},
	{head: "OPERATION", value: func(f controls.ShownFault) string { return f.Operation }},
	{head: "WHEN", value: func(f controls.ShownFault) string { return string(f.When) }},
	{head: "DOES", value: func(f controls.ShownFault) string {
		return does(f.Latency, f.LatencyMax, f.Status, f.Drop, f.Half, f.Garbage, f.BytesPerSecond)
	}},
	{head: "CALLS", value: func(f controls.ShownFault) string { return textOf(f.Calls) }},
	{head: "SHOWN", value: func(f controls.ShownFault) string { return textOf(f.Shown) }},
}

// does says what a fault does, in its own words.
func does(latency, latencyMax, status *int64, drop bool, half *int64, garbage bool, bytesPerSecond *int64) string {
	var words []string
	add := func(member string, n *int64) {
		if n != nil {
			words = append(words, fmt.Sprintf("%s %d", member, *n))
		}
	}

	add("latency", latency)
	add("latencyMax", latencyMax)
	add("status", status)
	if drop {
		words = append(words, "drop")
	}
	add("half", half)
	if garbage {
		words = append(words, "garbage")
	}
	add("bytesPerSecond", bytesPerSecond)
	return strings.Join(words, ", ")
}

func newFaultsListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the faults, with the calls that they matched and that met them", Args: cobra.NoArgs,
		Example: "  berth faults list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, "the faults take", func(c *connection) error {
				list, document, err := fetch[controls.FaultList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.GetFaults(ctx)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return printTable(cmd, faultColumns, list.Faults)
			})
		},
	}
}

// faultFlags are the members of a fault.
type faultFlags struct {
	id, operation, when, resource, keyID string
	body                                 []string
	after, nth, every, times, seed       int64
	latency, latencyMax                  int64
	status, retryAfter                   int64
	half, bytesPerSecond                 int64
	probability                          float64
	drop, garbage                        bool
}

func (f *faultFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "its id, unique among the faults; without it the server gives it one")
	flags.StringVar(&f.operation, "operation", "", "an operationId such as createPod, graphql. and a field of Query or Mutation, or * for all")
	flags.StringVar(&f.when, "when", "before", "before the operation, or after it, so that its effect is kept")
	flags.StringVar(&f.resource, "resource", "", "only calls with this id in the path")
	flags.StringVar(&f.keyID, "key-id", "", "only calls with the key of this id")
	flags.StringArrayVar(&f.body, "body", nil, "only calls whose JSON body has this value, POINTER=JSON such as /input/n=7; may be repeated")

	flags.Int64Var(&f.after, "after", 0, "how many calls pass first")
	flags.Int64Var(&f.nth, "nth", 0, "only the nth call that it matches, from 1")
	flags.Int64Var(&f.every, "every", 0, "only every nth call that it matches")
	flags.Int64Var(&f.times, "times", 0, "how often it is met; without it always")
	flags.Float64Var(&f.probability, "probability", 0, "how likely a call meets it, from 0 to 1; without it always")
	flags.Int64Var(&f.seed, "seed", 0, "the random choices depend on it: with the same seed the same calls meet the fault")

	flags.Int64Var(&f.latency, "latency", 0, "milliseconds on the clock of the server")
	flags.Int64Var(&f.latencyMax, "latency-max", 0, "with it the milliseconds are drawn evenly between --latency and it")
	flags.Int64Var(&f.status, "status", 0, "a problem of this status, 400 to 599, in place of the answer")
	flags.Int64Var(&f.retryAfter, "retry-after", 0, "seconds of its header Retry-After")
	flags.BoolVar(&f.drop, "drop", false, "cut the connection without an answer")
	flags.Int64Var(&f.half, "half", 0, "send this percentage of the body, 0 to 99, and cut the connection; with --when after")
	flags.BoolVar(&f.garbage, "garbage", false, "send as many bytes that are not JSON; with --when after")
	flags.Int64Var(&f.bytesPerSecond, "bytes-per-second", 0, "send the body at this speed; with --when after")
}

// fault gives the fault of the flags that were given; the error names the one that makes no sense.
func (f *faultFlags) fault(cmd *cobra.Command) (controls.Fault, error) {
	when := controls.FaultWhen(f.when)
	fault := controls.Fault{Operation: f.operation, When: &when}
	given := cmd.Flags().Changed
	for name, to := range map[string]struct {
		value *string
		to    **string
	}{"id": {&f.id, &fault.ID}, "resource": {&f.resource, &fault.Resource}, "key-id": {&f.keyID, &fault.KeyID}} {
		if given(name) {
			*to.to = to.value
		}
	}

	for name, to := range map[string]struct {
		value *int64
		to    **int64
	}{
		"after": {&f.after, &fault.After}, "nth": {&f.nth, &fault.Nth}, "every": {&f.every, &fault.Every}, "times": {&f.times, &fault.Times},
		"seed": {&f.seed, &fault.Seed}, "latency": {&f.latency, &fault.Latency}, "latency-max": {&f.latencyMax, &fault.LatencyMax},
		"status": {&f.status, &fault.Status}, "retry-after": {&f.retryAfter, &fault.RetryAfter}, "half": {&f.half, &fault.Half},
		"bytes-per-second": {&f.bytesPerSecond, &fault.BytesPerSecond},
	} {
		if given(name) {
			*to.to = to.value
		}
	}

	if given("probability") {
		fault.Probability = &f.probability
	}
	if given("drop") {
		fault.Drop = &f.drop
	}
	if given("garbage") {
		fault.Garbage = &f.garbage
	}
	for _, text := range f.body {
		pointer, equals, ok := strings.Cut(text, "=")
		if !ok || !json.Valid([]byte(equals)) {
			return fault, misuse(fmt.Errorf("--body: %q is not POINTER=JSON", text), `a text is in quotes, such as '/name="first"'`)
		}
		fault.Body = append(fault.Body, controls.BodyExpectation{Pointer: pointer, Equals: json.RawMessage(equals)})
	}
	return fault, nil
}

func newFaultsAddCommand() *cobra.Command {
	f := &faultFlags{}
	cmd := &cobra.Command{
		Use: "add", Short: "Script one more fault", Args: cobra.NoArgs,
		Example: `  berth faults add --operation createPod --when after --status 503 --times 1
  berth faults add --operation run --body /input/n=7 --latency 100 --latency-max 2000 --probability 0.5 --seed 1
  berth faults add --operation listPods --when after --half 50 --every 3`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.operation == "" {
				return misuse(errors.New("--operation must name what is to go wrong"), "")
			}
			fault, err := f.fault(cmd)
			if err != nil {
				return err
			}

			return controlled(cmd, "the faults take", func(c *connection) error {
				added, document, err := fetch[controls.ShownFault](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.AddFault(ctx, fault)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return printTable(cmd, faultColumns, []controls.ShownFault{added})
			})
		},
	}
	f.add(cmd)
	return cmd
}

func newFaultsSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set FILE", Short: "Replace all faults by those of a file", Args: cobra.ExactArgs(1),
		Long: `Replace all faults by those of a JSON file, or of the standard input if it is -: a list, or an object with the member faults. Their members are
those of spec/controls.yaml: the flags of berth faults add, such as keyId for --key-id.`,
		Example: `  berth faults set faults.json
  echo '[{"operation": "createPod", "when": "after", "status": 503, "times": 1}]' | berth faults set -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readDocument(cmd, args[0])
			if err != nil {
				return misuse(err, "")
			}
			if strings.HasPrefix(strings.TrimSpace(text), "[") {
				text = `{"faults":` + text + `}`
			}

			return controlled(cmd, "the faults take", func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
					return c.controls.SetFaultsWithBody(ctx, "application/json", strings.NewReader(text))
				})
				return err
			})
		},
	}
}

func newFaultsDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete ID", Aliases: []string{"rm"}, Short: "Take one fault back", Args: cobra.ExactArgs(1),
		Example: "  berth faults delete fault-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			return controlled(cmd, "the faults take", func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.DeleteFault(ctx, args[0]) })
				return err
			})
		},
	}
}

func newFaultsClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Take all faults back", Args: cobra.NoArgs,
		Example: "  berth faults clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, "the faults take", func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.ClearFaults(ctx) })
				return err
			})
		},
	}
}
