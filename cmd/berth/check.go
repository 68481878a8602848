package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

func newCheckCommand() *cobra.Command {
	var o app.CheckOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database, and for containers that nobody knows",
		Long: `Look for damage that no server leaves behind: a damaged file, rows that belong to nothing, wrong sums, containers without rows
and pods that run without a container. A server may run meanwhile: then the list has what was found twice, a second apart.

Without --repair the command changes nothing. With it, and with the server stopped, it repairs everything that it can in one transaction. For
the rest, the list says what you can do. Make a backup first (berth backup).

It exits with 1 if anything is still wrong. A PostgreSQL database (--store) is not checked: its own pg_amcheck looks for damage.`,
		Example: `  berth check --data /var/lib/berth
  berth check --repair --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ofFile(cmd, "pg_amcheck looks for damage in it"); err != nil {
				return err
			}
			o.Data, _ = cmd.Flags().GetString("data")
			fleet, _ := cmd.Flags().GetString("fleet")
			o.Fleet = fleet != "" && fleet != app.FleetMachine
			r, err := app.Check(cmd.Context(), o)
			if err != nil {
				return err
			}
			return printChecked(cmd, r)
		},
	}

	addSettings(cmd, cmd.Flags(), settingsNamed("data", "store", "fleet"))
	cmd.Flags().BoolVar(&o.Repair, "repair", false, "repair what can be repaired; no server may run")
	return cmd
}

var flawColumns = []column[app.Flaw]{
	{head: "WHAT", value: func(f app.Flaw) string { return f.Kind }},
	{head: "ID", value: func(f app.Flaw) string { return f.ID }},
	{head: "DETAIL", value: func(f app.Flaw) string { return f.Detail }},
	{head: "REPAIRED", value: func(f app.Flaw) string {
		switch {
		case f.Mended:
			return "yes"
		case f.Mendable:
			return "--repair"
		}
		return "no"
	}},
	{head: "HOW", value: func(f app.Flaw) string { return f.Does }},
}

func printChecked(cmd *cobra.Command, r app.CheckReport) error {
	err := printFlaws(cmd, r)
	if left := r.Left(); err == nil && left > 0 {
		err = errors.New(counted(left, "thing is wrong", "things are wrong"))
	}
	return err
}

func printFlaws(cmd *cobra.Command, r app.CheckReport) error {
	if asJSON(cmd) {
		return printJSON(cmd, r)
	}
	for _, what := range r.Unlooked {
		fmt.Fprintln(cmd.ErrOrStderr(), "not looked at:", what)
	}
	if len(r.Flaws) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "Nothing is wrong.")
		return err
	}
	return printTable(cmd, flawColumns, r.Flaws)
}

// counted gives a number with its word.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
