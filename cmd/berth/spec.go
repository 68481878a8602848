package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/spec/diff"
)

func newSpecCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "spec", Short: "Compare documents that describe a service"}
	cmd.AddCommand(newSpecDiffCommand())
	return cmd
}

func newSpecDiffCommand() *cobra.Command {
	var expected string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Tell what two OpenAPI documents describe differently",
		Long: `Tell what two OpenAPI documents, files of YAML or JSON, describe differently: operations, parameters, bodies, statuses,
headers and schemas. A line has the place, what A has there and what B has. Prose, tags, examples, security and how the
documents are cut into components make no difference.

It fails when there is a difference; with --expected, when there is one that the file does not list, or when the file lists
one that there is not. The file is a YAML list of {at, a, b, reason}, in which an asterisk stands for any text.`,
		Example: "  berth spec diff spec/rest.yaml other.json --expected spec/differences.yaml",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := diff.Load(args[0])
			if err != nil {
				return err
			}
			b, err := diff.Load(args[1])
			if err != nil {
				return err
			}
			var list []diff.Expected
			if expected != "" {
				if list, err = diff.LoadExpected(expected); err != nil {
					return err
				}
			}
			found := diff.Compare(a, b)
			unlisted, stale := diff.Check(found, list)
			if err := printDifferences(cmd.OutOrStdout(), unlisted, stale); err != nil {
				return err
			}
			if len(unlisted)+len(stale) > 0 {
				return fmt.Errorf("%d differences are not expected, and %d expected ones are not there", len(unlisted), len(stale))
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d differences, all expected\n", len(found))
			return err
		},
	}
	cmd.Flags().StringVar(&expected, "expected", "", "file of the differences that are to be")
	return cmd
}

func printDifferences(out io.Writer, unlisted []diff.Difference, stale []diff.Expected) error {
	for _, d := range unlisted {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	for _, e := range stale {
		if _, err := fmt.Fprintln(out, "not there:", e.Difference); err != nil {
			return err
		}
	}
	return nil
}
