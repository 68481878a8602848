package main

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/spec"
	"github.com/berthdev/berth/spec/diff"
)

func newSpecCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "spec", Short: "Show the documents that describe berth, and compare such documents"}
	cmd.AddCommand(newSpecShowCommand(), newSpecDiffCommand(), newSpecDriftCommand())
	return cmd
}

func newSpecShowCommand() *cobra.Command {
	documents := []string{"rest", "queue", "worker", "controls"}
	var contract string
	cmd := &cobra.Command{
		Use:       "show " + strings.Join(documents, "|"),
		Short:     "Show a document: OpenAPI 3.1, as JSON",
		Example:   "  berth spec show rest > rest.json\n  berth spec show rest --contract public",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: documents,
		RunE: func(cmd *cobra.Command, args []string) error {
			edition, err := app.Contract(contract)
			if err != nil {
				return misuse(fmt.Errorf("--contract: %w", err), "")
			}
			text, err := spec.JSON(args[0], edition)
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

	cmd.Flags().StringVar(&contract, "contract", rest.Editions[0].Name, "the edition of the contract: "+strings.Join(app.Contracts(), ", "))
	return cmd
}

func newSpecDiffCommand() *cobra.Command {
	var expected string
	cmd := &cobra.Command{
		Use:   "diff [A] B",
		Short: "Show what two OpenAPI documents describe differently",
		Long: `Show what two OpenAPI documents, files of YAML or JSON, describe differently: operations, parameters, bodies, statuses,
headers and schemas, and security if both describe it. A line has the place, what A has there and what B has. Prose, tags,
examples, links and how the documents are cut into components make no difference. What only one of them has is reported as a whole.

The name of an edition of the contract stands for its document of REST. Beside an edition the output names the edition that the other
document is nearest to; without A it is compared with that one.

It fails with exit code 1 when there is a difference; with --expected, when there is one that the file does not list, or when the file lists
one that there is not. The file is a YAML list of {at, a, b, reason}, where at is a place or a list of places; with editions, an entry is of
those whose document is A. A file that cannot be read, or is no such document, is exit code 2.`,
		Example: `  berth spec diff spec/rest.yaml other.json --expected spec/differences.yaml
  berth spec diff public other.json
  berth spec diff other.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, b, near, err := compared(args)
			if err != nil {
				return err
			}

			var list []diff.Expected
			if expected != "" {
				if list, err = diff.LoadExpected(expected); err != nil {
					return misuse(fmt.Errorf("--expected: %w", err), "")
				}
			}

			found := diff.Compare(a, b)
			unlisted, stale := diff.Check(found, diff.Of(a.Version(), list))
			if asJSON(cmd) {
				err = printJSON(cmd, specDiff{len(found), append([]diff.Difference{}, unlisted...), differences(stale), near})
			} else {
				err = printDifferences(cmd.OutOrStdout(), unlisted, stale)
			}
			if err == nil && len(near) > 0 {
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), near)
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

	cmd.Flags().StringVar(&expected, "expected", "", "file of the differences that are expected")
	return cmd
}

// compared reads what is compared. Where one of the two is an edition, or there is only one, near reports how far the editions are from
// the other.
func compared(args []string) (a, b diff.Document, near nearness, err error) {
	other := args[len(args)-1]
	if len(args) == 2 {
		if a, err = loadDocument(args[0]); err != nil {
			return a, b, nil, err
		}
		if isEdition(other) {
			other = args[0]
		}
	}
	if b, err = loadDocument(args[len(args)-1]); err != nil {
		return a, b, nil, err
	}

	if len(args) == 1 || isEdition(args[0]) != isEdition(args[1]) {
		d, err := loadDocument(other)
		if err != nil {
			return a, b, nil, err
		}
		if near, err = nearestTo(d); err != nil {
			return a, b, nil, err
		}
	}
	if len(args) == 1 {
		a, err = loadDocument(near[0].Edition)
	}
	return a, b, near, err
}

func isEdition(name string) bool { return slices.Contains(app.Contracts(), name) }

// loadDocument reads a file, or the document of an edition.
func loadDocument(name string) (diff.Document, error) {
	if !isEdition(name) {
		d, err := diff.Load(name)
		return d, misuse(err, "")
	}
	edition, err := app.Contract(name)
	if err != nil {
		return diff.Document{}, err
	}
	return documentOf("rest", edition)
}

// nearness reports how many differences each edition has from a document, the nearest first.
type nearness []struct {
	Edition     string `json:"edition"`
	Differences int    `json:"differences"`
}

func (n nearness) String() string {
	line := fmt.Sprintf("nearest to edition %s: %d differences", n[0].Edition, n[0].Differences)
	for _, other := range n[1:] {
		line += fmt.Sprintf("; %s: %d", other.Edition, other.Differences)
	}
	return line
}

func nearestTo(d diff.Document) (near nearness, err error) {
	near = make(nearness, len(rest.Editions))
	for i, e := range rest.Editions {
		document, err := loadDocument(e.Name)
		if err != nil {
			return nil, err
		}
		near[i].Edition, near[i].Differences = e.Name, len(diff.Compare(document, d))
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].Differences < near[j].Differences })
	return near, nil
}

// specDiff is what berth spec diff prints as JSON.
type specDiff struct {
	Found    int               `json:"found"`
	Unlisted []diff.Difference `json:"unlisted"` // found, and not expected
	Stale    []diff.Difference `json:"stale"`    // expected, and not found
	Nearest  nearness          `json:"nearest,omitempty"`
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
