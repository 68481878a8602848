package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec"
	"github.com/berthdev/berth/spec/diff"
)

func newSpecDriftCommand() *cobra.Command {
	var expected, out, name string
	cmd := &cobra.Command{
		Use:   "drift DOCUMENT",
		Short: "Hold all documents against a public one, and write the skeleton of an edition for it",
		Long: `Hold the documents of REST and, where the document describes them, of the queue against a public document: the edition that is nearest, without what
the file of expected differences lists. It fails when there is anything else. What the document adds to the strict edition, or has otherwise, is written as an overlay, which
is to be reviewed and then stands in spec/editions.`,
		Example: "  berth spec drift public.json --expected spec/differences.yaml --overlay acme.overlay.yaml --name acme",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			public, err := diff.Load(args[0])
			if err != nil {
				return misuse(err, "")
			}
			var list []diff.Expected
			if expected != "" {
				if list, err = diff.LoadExpected(expected); err != nil {
					return misuse(fmt.Errorf("--expected: %w", err), "")
				}
			}

			queue, others, err := ofQueue(public)
			if err != nil {
				return err
			}
			near, err := nearestTo(others)
			if err != nil {
				return err
			}
			nearest, err := loadDocument(near[0].Edition)
			if err != nil {
				return err
			}
			unlisted, stale := diff.Check(diff.Compare(nearest, others), diff.Of(near[0].Edition, list))
			if queue != nil {
				ours, err := documentOf("queue", near[0].Edition)
				if err != nil {
					return err
				}
				unlisted = append(unlisted, diff.Compare(ours, *queue)...)
			}
			if err := printDifferences(cmd.OutOrStdout(), unlisted, stale); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.ErrOrStderr(), near); err != nil {
				return err
			}

			if out != "" {
				if err := writeSkeleton(cmd, others, list, name, out); err != nil {
					return err
				}
			}
			if len(unlisted)+len(stale) > 0 {
				return fmt.Errorf("%d differences are not expected, and %d expected ones are not there", len(unlisted), len(stale))
			}
			return nil
		},
	}

	cmd.Flags().StringVar(&expected, "expected", "", "file of the differences that are expected")
	cmd.Flags().StringVar(&out, "overlay", "", "file to write the skeleton of an overlay to; if empty, none is written")
	cmd.Flags().StringVar(&name, "name", "drift", "name of the edition that the overlay makes")
	return cmd
}

// writeSkeleton writes the overlay that makes of the strict edition what the document has, but for what is to be otherwise in every edition.
func writeSkeleton(cmd *cobra.Command, public diff.Document, list []diff.Expected, name, out string) error {
	strict, err := loadDocument(rest.Editions[0].Name)
	if err != nil {
		return err
	}
	var always []diff.Expected
	for _, e := range list {
		if len(e.Editions) == 0 {
			always = append(always, e)
		}
	}
	wanted, _ := diff.Check(diff.Compare(strict, public), always)
	text, left, err := diff.Skeleton(strict, public, wanted, name, "../rest.yaml")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d differences from the strict edition, %d of them to be written by hand; as spec/editions/%s.overlay.yaml it makes an edition\n", out, len(wanted), len(left), name)
	return err
}

// ofQueue parts the operations of the queue from those of REST. There may be none.
func ofQueue(public diff.Document) (queue *diff.Document, others diff.Document, err error) {
	ours, err := documentOf("queue", rest.Editions[0].Name)
	if err != nil {
		return nil, others, err
	}
	known := map[string]bool{}
	for _, op := range ours.Operations() {
		known[shape(op.Path)] = true
	}
	of, others := public.Part(func(path string) bool { return known[shape(path)] })
	if len(of.Operations()) > 0 {
		queue = &of
	}
	return queue, others, nil
}

// shape gives a path without the names of its parameters.
func shape(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// documentOf reads a document as an edition has it.
func documentOf(name, edition string) (diff.Document, error) {
	text, err := spec.JSON(name, edition)
	if err != nil {
		return diff.Document{}, err
	}
	return diff.Parse(text)
}
