package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newStatesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "states", Aliases: []string{"state"}, Short: "Save everything that a server has, and go back to it",
		Long: `Save everything that a server with test controls has (berth serve --test-controls), and go back to it. The key is that of the controls,
which the server prints when it starts. A state is a file below states of the data directory, which later versions of berth load too.`,
	}
	cmd.AddCommand(newStatesListCommand())

	for _, does := range stateVerbs {
		cmd.AddCommand(&cobra.Command{
			Use: does.use, Short: does.short, Example: "  " + does.example, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return controlled(cmd, "the states take", func(c *connection) error { return does.to(cmd.Context(), c, args[0]) })
			},
		})
	}

	return cmd
}

// stateVerb is something that is done with a saved state.
type stateVerb struct {
	use, short, example string
	ask                 func(ctx context.Context, c *connection, name string) (*http.Response, error)
}

var stateVerbs = []stateVerb{
	{"save NAME", "Save everything under a name, replacing what was saved under it", "berth states save before-upgrade", func(ctx context.Context, c *connection, name string) (*http.Response, error) {
		return c.controls.SaveState(ctx, name)
	}},
	{"load NAME", "Go back to a saved state, as if the server were started again on it", "berth states load before-upgrade", func(ctx context.Context, c *connection, name string) (*http.Response, error) {
		return c.controls.LoadState(ctx, name)
	}},
	{"delete NAME", "Delete a saved state", "berth states delete before-upgrade", func(ctx context.Context, c *connection, name string) (*http.Response, error) {
		return c.controls.DeleteState(ctx, name)
	}},
}

// to does it to the state of that name. One that is large takes a while: the server stops saving when nobody waits for it any more.
func (v stateVerb) to(ctx context.Context, c *connection, name string) error {
	_, err := c.hold(ctx, longWork, func(ctx context.Context) (*http.Response, error) { return v.ask(ctx, c, name) })
	return err
}

var stateColumns = []column[controls.State]{
	{head: "NAME", value: func(s controls.State) string { return s.Name }},
	{head: "SAVED", value: func(s controls.State) string { return textOf(s.SavedAt) }},
	{head: "BYTES", value: func(s controls.State) string { return textOf(s.Bytes) }},
}

func newStatesListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the saved states", Args: cobra.NoArgs, Example: "  berth states list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, "the states take", func(c *connection) error {
				list, document, err := fetch[controls.StateList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.ListStates(ctx)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return printTable(cmd, stateColumns, list.States)
			})
		},
	}
}
