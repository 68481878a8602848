package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
)

// conformanceCommand is what its flags say.
type conformanceCommand struct {
	target           conformance.Target
	only, skip, area []string
	shuffle          uint64
	patience, wait   time.Duration
	junit, html      string
}

// ownServers is how many servers of its own it checks rules beside at the same time: some rules only wait.
const ownServers = 6

func newConformanceCommand() *cobra.Command {
	var c conformanceCommand
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Check every documented rule against a server",
		Long: `Check every documented rule against a server over HTTP, and print PASS, FAIL or SKIPPED for each and the totals of each
area. Without --target it checks servers of its own, each on a new database. If the server lacks something that a rule needs, the rule is SKIPPED
with the reason; the totals group the reasons. --junit and --html write the same to files. The exit code is 1 if a rule fails, 3 if the server refuses the key or has no such endpoint, 4 if it is not reached.

The rules create and delete pods, endpoints and more, and delete what they created. They act as the worker of an endpoint: of one
that they create and delete, or of --endpoint, which must have no workers. If the server limits requests, they wait; a second key
that is exempt from limits (berth keys create --exempt), given as BERTH_EXEMPT_KEY, avoids that. Webhooks are received on 127.0.0.1: rules about them are SKIPPED
where the server does not post there (berth serve --private-webhooks).

Some rules wait: to see that a result is kept for 30 minutes takes 30 minutes. With the test controls they set the clock. Without them,
--wait says how long a rule may wait in real time. The rules wait at the same time, and those that are skipped say how long they would need.

With the test controls the rules advance the clock of the server and reset its state: use a server that nobody else needs.`,
		Example: `  berth conformance
  berth conformance --target http://127.0.0.1:8765 --junit report.xml --html report.html
  BERTH_EXEMPT_KEY=$(berth keys create --exempt --json | jq -r .key) berth conformance --target http://127.0.0.1:8765
  berth conformance --target http://127.0.0.1:8765 --area pods,queue --skip pods.logs`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}

	flags := cmd.Flags()
	flags.StringVar(&c.target.URL, "target", "", "base address of the server; if empty, a server of its own")
	flags.StringVar(&c.target.QueueURL, "queue-target", "", "base address of its queue, if that is different")
	flags.StringVar(&c.target.Key, "key", "", "a key with every scope; better given as BERTH_KEY, since others see command lines")
	flags.StringVar(&c.target.ExemptKey, "exempt-key", "", "a key of the same user that is exempt from limits, for all rules but those about limits; better given as BERTH_EXEMPT_KEY")
	flags.StringVar(&c.target.Endpoint, "endpoint", "", "id of an endpoint without workers; without it the rules create one")
	flags.StringVar(&c.target.Declared, "declared-endpoint", "", "id of an endpoint that the server's settings declare; without it one of the other two, if it is one")
	flags.StringVar(&c.target.Managed, "managed-endpoint", "", "id of an endpoint whose workers the server starts; without it rules are skipped")
	flags.StringVar(&c.target.ControlsKey, "controls-key", "", "the key of its test controls (berth serve --test-controls), with which they reset it; without it rules are skipped")
	flags.StringVar(&c.target.Contract, "contract", "", "check the rules of this edition of the contract, which every request names: "+strings.Join(app.Contracts(), ", ")+"; without it those of the strict one, and requests name none")
	asSettings(flags, "key")
	flags.StringSliceVar(&c.only, "only", nil, "check only these rules: ids, or the beginning of ids up to a dot (pods.logs), separated by commas")
	flags.StringSliceVar(&c.skip, "skip", nil, "do not check these rules, named as for --only")
	flags.StringSliceVar(&c.area, "area", nil, "check only the rules of these areas (pods,queue)")
	flags.Uint64Var(&c.shuffle, "shuffle", 0, "check the rules in a random order of this seed; 0: by their ids")
	waitingVar(flags, &c.patience, "patience", time.Minute, "how long to wait for what happens by itself, such as a pod that starts")
	flags.DurationVar(&c.wait, "wait", 0, "without test controls, check in real time the rules that wait for at most so long altogether (15m); each has an endpoint of its own")
	flags.StringVar(&c.junit, "junit", "", "write the outcomes to this JUnit file too, as they come")
	flags.StringVar(&c.html, "html", "", "write the outcomes to this file as a page to read, as they come: one file, without scripts")

	return cmd
}

func (c *conformanceCommand) run(cmd *cobra.Command) error {
	if c.wait < 0 {
		return misuse(fmt.Errorf("--wait: %s is no time to wait for", c.wait), "")
	}
	c.target.ExemptKey = cmp.Or(c.target.ExemptKey, os.Getenv("BERTH_EXEMPT_KEY"))
	if c.target.Contract != "" {
		name, err := app.Contract(c.target.Contract)
		if err != nil {
			return misuse(fmt.Errorf("--contract: %w", err), "")
		}
		c.target.Contract = name
	}
	rules, err := conformance.Select(c.target.Contract, c.only, c.skip, c.area)
	if err != nil {
		return misuse(err, "RULES.md lists the rules")
	}
	documents, err := conformance.LoadDocuments(c.target.Contract)
	if err != nil {
		return err
	}
	reports, err := c.newReports(rules)
	if err != nil {
		return err
	}

	var beside []conformance.Target
	if c.target.URL == "" {
		defer collectSeldom()()
		stop, more, err := c.own(cmd.Context(), min(ownServers, len(rules)))
		if err != nil {
			return err
		}
		defer stop()
		beside = more
	} else if err := c.checkTarget(); err != nil {
		return misuse(err, "")
	}

	out := cmd.OutOrStdout()
	if asJSON(cmd) {
		if out = io.Discard; terminal(cmd.ErrOrStderr()) {
			out = cmd.ErrOrStderr() // to see how far it is
		}
	}

	suite := conformance.Suite{Target: c.target, Beside: beside, Documents: documents, Patience: c.patience, RealTime: c.wait, Waits: func(d time.Duration) {
		fmt.Fprintf(cmd.ErrOrStderr(), "the server takes no more requests of this key for %s: waiting (with --exempt-key it need not)\n", d)
	}}
	outcomes, ended := suite.Run(cmd.Context(), conformance.Options{Rules: rules, Shuffle: c.shuffle, Ended: func(o conformance.Outcome) {
		conformance.WriteOutcome(out, o)
		reports.add(o)
	}})

	fmt.Fprintln(out)
	ok := conformance.WriteTotals(out, outcomes)
	if asJSON(cmd) {
		err = printJSON(cmd, shownOutcomes(outcomes))
	}
	if err := errors.Join(err, reports.end(ended)); err != nil {
		return err
	}

	switch {
	case errors.Is(ended, conformance.ErrUnreached):
		return &failure{code: exitUnreached, cause: ended}
	case errors.Is(ended, conformance.ErrRefused):
		return &failure{code: exitRefused, cause: ended}
	case ended != nil:
		return ended
	case !ok:
		return errors.New("a rule failed")
	}

	return nil
}

// seldomMemory is how many bytes the process may have before the collector runs as often as ever, while it is collectSeldom's.
const seldomMemory = 512 << 20

// collectSeldom has the collector run seldom until the function that it gives is called: servers that live for seconds leave little, and
// what the collector takes of the processors the rules have. Who sets GOGC or GOMEMLIMIT decides alone.
func collectSeldom() (asBefore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(seldomMemory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// own starts servers to check on new databases: the first is the target, and rules are checked beside the others at the same time.
func (c *conformanceCommand) own(ctx context.Context, servers int) (stop func(), beside []conformance.Target, err error) {
	dir, err := os.MkdirTemp("", "berth-conformance-")
	if err != nil {
		return nil, nil, err
	}
	own, end, err := conformance.OwnSeveral(ctx, dir, servers)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}

	for i := range own {
		own[i].Contract = c.target.Contract
	}
	c.target = own[0]
	return func() {
		_ = end()
		_ = os.RemoveAll(dir)
	}, own[1:], nil
}

// checkTarget fails if the flags cannot be those of a server.
func (c *conformanceCommand) checkTarget() error {
	t := &c.target
	t.QueueURL = cmp.Or(t.QueueURL, t.URL)
	for _, base := range []struct {
		flag    string
		address *string
	}{{"target", &t.URL}, {"queue-target", &t.QueueURL}} {
		if !isBase(*base.address) {
			return fmt.Errorf("--%s: %q is not an http or https URL", base.flag, withoutPassword(*base.address))
		}
		*base.address = withoutUser(strings.TrimSuffix(*base.address, "/"))
	}

	if t.Key == "" {
		return errors.New("--target needs --key")
	}
	if t.ControlsKey != "" && t.Endpoint == "" {
		return errors.New("--controls-key needs --endpoint: the rules reset the server, and with it an endpoint that they create")
	}

	for flag, value := range map[string]string{"key": t.Key, "controls-key": t.ControlsKey, "exempt-key": t.ExemptKey} {
		if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("--%s: a key has no spaces, and only characters that a header can have", flag)
		}
	}

	for flag, value := range map[string]string{"endpoint": t.Endpoint, "managed-endpoint": t.Managed, "declared-endpoint": t.Declared} {
		if value != url.PathEscape(value) {
			return fmt.Errorf("--%s: %q is not the id of an endpoint", flag, value)
		}
	}

	return nil
}

// withoutUser gives a base address without the user and the password before its host. Requests carry keys in the header that these would be sent
// in, and the address stands in every report.
func withoutUser(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return address
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
