package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/conformance"
)

func newConformanceCommand() *cobra.Command {
	var target conformance.Target
	var junit string
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Check every documented rule against a server",
		Long: `Check every documented rule against a server over HTTP, and print PASS, FAIL or SKIPPED for each and the totals of each
area. Without --target it checks a server of its own on a new database. The exit code is 1 if a rule fails.

The rules create and delete pods, and play the worker of the endpoint: it must have none running. With the test controls they
set the clock of the server forward and reset its state: use a server that nobody else needs.`,
		Example: `  berth conformance
  berth conformance --target http://127.0.0.1:8765 --key $BERTH_KEY --endpoint <id> --junit report.xml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if target.URL == "" {
				dir, err := os.MkdirTemp("", "berth-conformance-")
				if err != nil {
					return err
				}
				defer func() { _ = os.RemoveAll(dir) }()
				own, stop, err := conformance.Own(cmd.Context(), dir)
				if err != nil {
					return err
				}
				defer func() { _ = stop() }()
				target = own
			} else if target.Key == "" || target.Endpoint == "" {
				return misuse(errors.New("--target needs --key and --endpoint"), "")
			}
			target.URL = strings.TrimSuffix(target.URL, "/")
			if target.QueueURL == "" {
				target.QueueURL = target.URL
			}
			documents, err := conformance.LoadDocuments()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON(cmd) {
				if out = io.Discard; terminal(cmd.ErrOrStderr()) {
					out = cmd.ErrOrStderr() // to see how far it is
				}
			}
			outcomes := conformance.Run(target, documents, out)
			fmt.Fprintln(out)
			ok := conformance.WriteTotals(out, outcomes)
			if asJSON(cmd) {
				if err := printJSON(cmd, shownOutcomes(outcomes)); err != nil {
					return err
				}
			}
			if junit != "" {
				f, err := os.Create(junit)
				if err != nil {
					return err
				}
				if err := errors.Join(conformance.WriteJUnit(f, outcomes), f.Close()); err != nil {
					return err
				}
			}
			if !ok {
				return errors.New("a rule failed")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&target.URL, "target", "", "base address of the server; empty: a server of its own")
	cmd.Flags().StringVar(&target.QueueURL, "queue-target", "", "base address of its queue, if it is another one")
	cmd.Flags().StringVar(&target.Key, "key", "", "a key with every scope")
	cmd.Flags().StringVar(&target.Endpoint, "endpoint", "", "id of an endpoint without workers")
	cmd.Flags().StringVar(&target.Declared, "declared-endpoint", "", "id of an endpoint that the server's settings declare; without it rules are skipped")
	cmd.Flags().StringVar(&target.Managed, "managed-endpoint", "", "id of an endpoint whose workers the server starts; without it a rule is skipped")
	cmd.Flags().StringVar(&target.ControlsKey, "controls-key", "", "the key of its test controls (berth serve --test-controls); without it rules are skipped")
	asSettings(cmd.Flags(), "key")
	cmd.Flags().StringVar(&junit, "junit", "", "write the outcomes to this file too")
	return cmd
}

// shownOutcome is how a rule fared, as JSON.
type shownOutcome struct {
	Rule         string `json:"rule"`
	Outcome      string `json:"outcome"`          // PASS, FAIL or SKIPPED
	Detail       string `json:"detail,omitempty"` // how it failed, or why it was skipped
	Milliseconds int64  `json:"milliseconds"`
}

func shownOutcomes(outcomes []conformance.Outcome) (all []shownOutcome) {
	for _, o := range outcomes {
		shown := shownOutcome{Rule: o.ID, Outcome: "PASS", Milliseconds: o.Took.Milliseconds()}
		switch {
		case o.Skipped != "":
			shown.Outcome, shown.Detail = "SKIPPED", o.Skipped
		case o.Failure != "":
			shown.Outcome, shown.Detail = "FAIL", o.Failure
		}
		all = append(all, shown)
	}
	return all
}
