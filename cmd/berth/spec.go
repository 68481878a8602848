package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/spec"
	"github.com/berthdev/berth/spec/diff"
)

func newSpecCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "spec", Short: "Show the documents that describe berth, and compare such documents"}
	cmd.AddCommand(newSpecShowCommand(), newSpecDiffCommand())
	return cmd
}

func newSpecShowCommand() *cobra.Command {
	documents := []string{"rest", "queue", "worker", "controls"}
	return &cobra.Command{
		Use:       "show " + strings.Join(documents, "|"),
		Short:     "Show a document: OpenAPI 3.1, as JSON",
		Example:   "  berth spec show rest > rest.json",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: documents,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := spec.JSON(args[0])
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return printDocument(cmd, text)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			return err
		},
	}
}

func newSpecDiffCommand() *cobra.Command {
	var expected string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Tell what two OpenAPI documents describe differently",
		Long: `Tell what two OpenAPI documents, files of YAML or JSON, describe differently: operations, parameters, bodies, statuses,
headers and schemas, and security if both tell of it. A line has the place, what A has there and what B has. Prose, tags,
examples, links and how the documents are cut into components make no difference. What only one of them has is told as a whole.

It fails when there is a difference; with --expected, when there is one that the file does not list, or when the file lists
one that there is not. The file is a YAML list of {at, a, b, reason}, where at is a place or a list of places.`,
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
			if asJSON(cmd) {
				err = printJSON(cmd, specDiff{len(found), append([]diff.Difference{}, unlisted...), differences(stale)})
			} else {
				err = printDifferences(cmd.OutOrStdout(), unlisted, stale)
			}
			if err != nil {
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

// specDiff is what berth spec diff prints as JSON.
type specDiff struct {
	Found    int               `json:"found"`
	Unlisted []diff.Difference `json:"unlisted"` // found, and not expected
	Stale    []diff.Difference `json:"stale"`    // expected, and not found
}

func differences(expected []diff.Expected) []diff.Difference {
	all := []diff.Difference{}
	for _, e := range expected {
		all = append(all, e.Difference)
	}
	return all
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
