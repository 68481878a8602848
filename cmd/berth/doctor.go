package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

func newDoctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show which runtimes and GPUs this machine has, or why not, and how the database of --store stands",
		Long: `Show which runtimes this machine has for pods (berth serve --runtime), what they cannot do, and which GPUs there are. With --store,
show the state of that database, which server owns it, and which others there are. With --tls-cert, show how long that certificate is
valid, for which names, and whether other users can read its key.
It uses the settings of the runtimes like berth serve. It changes nothing, and does not fail if something is missing.`,
		Example: "  berth doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := app.Examine(cmd.Context(), valuesOf(cmd))
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(findings)
			}
			return printFindings(cmd.OutOrStdout(), findings)
		},
	}

	addSettings(cmd, cmd.Flags(), append(settingsNamed("store", "backup-to", "backup-endpoint", "tls-cert", "tls-key", "runtime", "fleet", "catalog"), app.RuntimeSettings()...))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of {name, available, detail, warnings, lacks}")
	return cmd
}

func printFindings(out io.Writer, findings []app.Finding) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tHERE\tDETAIL")
	for _, f := range findings {
		here := "no"
		if f.Available {
			here = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, here, f.Detail)
		for _, warning := range f.Warnings {
			fmt.Fprintf(w, "\t\t! %s\n", warning)
		}
		if len(f.Lacks) > 0 {
			fmt.Fprintf(w, "\t\t- it has not: %s\n", strings.Join(f.Lacks, ", "))
		}
	}

	return w.Flush()
}
