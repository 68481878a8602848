package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newJournalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "journal", Short: "Show the requests that came, and hold them against expectations",
		Long: `Show the requests that came to a server with test controls (berth serve --test-controls), and hold them against expectations. The key is that
of the controls, which the server prints when it starts. Secrets are masked. The last 2000 requests are kept, of each body the first 64 KiB.`,
	}
	cmd.AddCommand(newJournalListCommand(), newJournalShowCommand(), newJournalClearCommand(), newJournalVerifyCommand(), newJournalExportCommand())
	return cmd
}

// journalFlags are the filters of the journal.
type journalFlags struct {
	operation, method, pathPrefix, keyID, resource, status, since, until string
	after, limit                                                         int64
}

// add adds the filters; limit is how many entries there are without the flag, 0 is all.
func (f *journalFlags) add(cmd *cobra.Command, limit int64) {
	flags := cmd.Flags()
	flags.StringVar(&f.operation, "operation", "", "an operationId such as run, graphql, graphql. and a field of Query or Mutation, or unknown")
	flags.StringVar(&f.method, "method", "", "the method, in capitals")
	flags.StringVar(&f.pathPrefix, "path-prefix", "", "what the path begins with")
	flags.StringVar(&f.keyID, "key-id", "", "the id of the key that was sent")
	flags.StringVar(&f.resource, "resource", "", "an id in the path")
	flags.StringVar(&f.status, "status", "", "a status, or a class such as 4xx; 0: no answer")
	flags.StringVar(&f.since, "since", "", "only requests that came at this time or later, such as 2026-11-23T08:00:00Z")
	flags.StringVar(&f.until, "until", "", "only requests that came before this time")
	flags.Int64Var(&f.after, "after", 0, "the number after which the entries begin: the first of them are shown, and not the last")
	flags.Int64Var(&f.limit, "limit", limit, "how many there are at most; 0: all")
}

// params gives the filters as the server takes them; the error names the flag that makes no sense.
func (f *journalFlags) params(cmd *cobra.Command) (*controls.ListJournalParams, error) {
	if f.limit < 0 {
		return nil, misuse(fmt.Errorf("--limit: %d is less than 0", f.limit), "")
	}
	p := &controls.ListJournalParams{}
	for value, to := range map[*string]**string{
		&f.operation: &p.Operation, &f.method: &p.Method, &f.pathPrefix: &p.PathPrefix, &f.keyID: &p.KeyID, &f.resource: &p.Resource, &f.status: &p.Status,
	} {
		if *value != "" {
			*to = value
		}
	}

	for name, to := range map[string]**time.Time{"since": &p.Since, "until": &p.Until} {
		at, err := timeFlag(cmd, name)
		if err != nil {
			return nil, err
		}
		*to = at
	}

	if cmd.Flags().Changed("after") {
		p.AfterNumber = &f.after
	}
	if f.limit != 0 {
		p.Limit = &f.limit
	}
	return p, nil
}

// journaled is controlled for the journal.
func journaled(cmd *cobra.Command, f func(*connection) error) error {
	return controlled(cmd, "the journal takes", f)
}

// controlled is connect, with the hint what key the test controls take.
func controlled(cmd *cobra.Command, what string, f func(*connection) error) error {
	c, err := connect(cmd)
	if err != nil {
		return err
	}
	err = f(c)
	var own *failure
	if errors.As(err, &own) && isStatus(err, http.StatusUnauthorized, http.StatusForbidden) {
		with := *own
		with.hint = what + " the key of the test controls, which berth serve --test-controls prints"
		return &with
	}
	return err
}

var journalColumns = []column[controls.JournalEntry]{
	{head: "NUMBER", value: func(e controls.JournalEntry) string { return textOf(e.Number) }},
	{head: "TIME", value: func(e controls.JournalEntry) string { return textOf(e.Time) }},
	{head: "STATUS", value: func(e controls.JournalEntry) string { return textOf(e.Status) }},
	{head: "MS", value: func(e controls.JournalEntry) string { return textOf(e.Duration) }},
	{head: "METHOD", value: func(e controls.JournalEntry) string { return e.Method }},
	{head: "PATH", value: address},
	{head: "OPERATION", value: operationOf},
	{head: "KEY", value: func(e controls.JournalEntry) string { return orDash(e.KeyID) }},
	{head: "USER", value: func(e controls.JournalEntry) string { return orDash(e.User) }, wide: true},
	{head: "RESOURCES", value: func(e controls.JournalEntry) string { return textOf(e.Resources) }, wide: true},
	{head: "FAULT", value: faultOf},
}

func address(e controls.JournalEntry) string {
	if e.Query == "" {
		return e.Path
	}
	return e.Path + "?" + e.Query
}

func operationOf(e controls.JournalEntry) string {
	if e.Graphql != nil && len(e.Graphql.Fields) > 0 {
		return "graphql." + strings.Join(e.Graphql.Fields, ", graphql.")
	}
	return e.Operation
}

func faultOf(e controls.JournalEntry) string {
	f := e.Fault
	if f == nil {
		return "-"
	}
	return string(f.When) + ": " + does(f.Latency, nil, f.Status, f.Drop, f.Half, f.Garbage != nil && *f.Garbage, f.BytesPerSecond)
}

func newJournalListCommand() *cobra.Command {
	f := &journalFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the requests that came, the newest last", Args: cobra.NoArgs,
		Example: `  berth journal list --status 4xx
  berth journal list --operation run --after 12 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			params, err := f.params(cmd)
			if err != nil {
				return err
			}
			return journaled(cmd, func(c *connection) error {
				list, document, err := fetch[controls.Journal](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.ListJournal(ctx, params)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return printTable(cmd, journalColumns, list.Entries)
			})
		},
	}
	f.add(cmd, 50)
	return cmd
}

func newJournalShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NUMBER", Short: "Show one request and its answer", Args: cobra.ExactArgs(1),
		Example: "  berth journal show 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return misuse(fmt.Errorf("%q is not the number of an entry", args[0]), "berth journal list shows them")
			}
			return journaled(cmd, func(c *connection) error {
				e, document, err := fetch[controls.JournalEntry](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.GetJournalEntry(ctx, number)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				if err := printDetail(cmd, journalColumns, e); err != nil || idsAlone(cmd) {
					return err
				}
				if err := printMessage(cmd, "request", e.Request); err != nil {
					return err
				}
				return printMessage(cmd, "response", e.Response)
			})
		},
	}
}

// printMessage prints headers and body of a request or of a response.
func printMessage(cmd *cobra.Command, of string, m controls.JournalMessage) error {
	lines := []string{"", of}
	for _, h := range m.Headers {
		lines = append(lines, "  "+h.Name+": "+h.Value)
	}
	if m.Body.Length > 0 {
		lines = append(lines, "")
		for line := range strings.SplitSeq(strings.TrimSuffix(m.Body.Text, "\n"), "\n") {
			lines = append(lines, "  "+line)
		}
	}
	switch {
	case m.Body.Truncated:
		lines = append(lines, fmt.Sprintf("  (the first bytes of %d)", m.Body.Length))
	case m.Body.Base64:
		lines = append(lines, fmt.Sprintf("  (base64 of %d bytes)", m.Body.Length))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), oneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

func newJournalClearCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clear", Short: "Forget the requests that came", Args: cobra.NoArgs,
		Example: "  berth journal clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return journaled(cmd, func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.ClearJournal(ctx) })
				return err
			})
		},
	}
}

func newJournalVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Hold the requests that came against expectations", Args: cobra.ExactArgs(1),
		Long: `Hold the requests that came against the expectations of a JSON file, or of the standard input if it is -: a list, or an object with the
members expectations and inOrder. An expectation has the filters of the list as operation, method, pathPrefix, keyId, resource, status,
since, until and afterNumber; headers, a list of name and value; body, a list of pointer and equals; and times, with exactly, atLeast or
atMost, without which there is at least one. With inOrder they came one after the other.

What does not hold is printed, a line each, with the request that comes nearest; then the exit code is 1.`,
		Example: `  berth journal verify expected.json
  echo '[{"operation": "run", "body": [{"pointer": "/input/n", "equals": 7}], "times": {"exactly": 1}}]' | berth journal verify -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readDocument(cmd, args[0])
			if err != nil {
				return misuse(err, "")
			}
			if strings.HasPrefix(strings.TrimSpace(text), "[") {
				text = `{"expectations":` + text + `}`
			}
			return journaled(cmd, func(c *connection) error {
				result, document, err := fetch[controls.VerificationResult](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.VerifyJournalWithBody(ctx, "application/json", strings.NewReader(text))
				})
				if err != nil {
					return err
				}
				return concludeVerification(cmd, result, document)
			})
		},
	}
}

// concludeVerification prints the failures and fails if there is one.
func concludeVerification(cmd *cobra.Command, result controls.VerificationResult, document []byte) error {
	if asJSON(cmd) {
		if err := printDocument(cmd, document); err != nil {
			return err
		}
	} else {
		for _, f := range result.Failures {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), oneLine(failureLine(f))); err != nil {
				return err
			}
		}
	}
	if result.Ok {
		return nil
	}

	hint := ""
	if result.Dropped > 0 {
		hint = fmt.Sprintf("the journal has forgotten %d requests for newer ones: clear it before what is verified", result.Dropped)
	}
	return &failure{code: exitFailed, cause: fmt.Errorf("%d of the expectations do not hold", len(result.Failures)), hint: hint}
}

// failureLine is a failure with what differs in the nearest request.
func failureLine(f controls.VerificationFailure) string {
	line := fmt.Sprintf("%d: %s", f.Expectation, f.Says)
	if f.Nearest == nil {
		return line
	}
	var differences []string
	for _, d := range f.Nearest.Differences {
		differences = append(differences, fmt.Sprintf("%s is %s, expected %s", d.Member, d.Found, d.Expected))
	}
	return fmt.Sprintf("%s; the nearest is number %d: %s", line, f.Nearest.Number, strings.Join(differences, "; "))
}

// exportJournal gives the journal as HAR, which may be tens of megabytes on a slow line.
func (c *connection) exportJournal(ctx context.Context, params *controls.ListJournalParams) ([]byte, error) {
	return c.hold(ctx, longWork, func(ctx context.Context) (*http.Response, error) {
		return c.controls.ExportJournal(ctx, new(controls.ExportJournalParams(*params)))
	})
}

func newJournalExportCommand() *cobra.Command {
	f := &journalFlags{}
	var file string

	cmd := &cobra.Command{
		Use: "export", Short: "Write the requests that came to a HAR file", Args: cobra.NoArgs,
		Long: `Write the requests that came to a file as HAR 1.2, which browsers, proxies and editors of requests read.`,
		Example: `  berth journal export --har requests.har
  berth journal export --har - --status 5xx`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return misuse(errors.New("--har must name the file to write"), "")
			}
			params, err := f.params(cmd)
			if err != nil {
				return err
			}
			return journaled(cmd, func(c *connection) error {
				document, err := c.exportJournal(cmd.Context(), params)
				if err != nil {
					return err
				}
				if file == "-" {
					return printDocument(cmd, document)
				}
				if err := os.WriteFile(file, document, 0o600); err != nil {
					return fmt.Errorf("--har: %w", err)
				}
				return nil
			})
		},
	}
	f.add(cmd, 0)
	cmd.Flags().StringVar(&file, "har", "", "the file to write; - is the standard output")
	_ = cmd.MarkFlagFilename("har", "har", "json")
	return cmd
}
