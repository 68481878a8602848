package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

// The exit codes, which `berth --help` lists. Those of berth worker are its own.
const (
	exitFailed      = 1   // anything that has no code of its own
	exitRefused     = 3   // the server answered with an error
	exitUnreached   = 4   // no answer from the server
	exitEnded       = 5   // what was waited for ended otherwise
	exitTimeout     = 6   // --timeout was over first
	exitInterrupted = 130 // as shells have it
)

const exitCodes = `Exit codes:
    0  done
    1  failed, for a reason not below
    2  the command line, the environment or the configuration file makes no sense
    3  the server refused the request
    4  the server was not reached
    5  the pod or job that the command waited for ended in another way
    6  the time of --timeout was over first
  130  interrupted`

// failure is an error that leads to an exit code of its own. Notes are more of what is wrong, a line each; usage is how the command
// is called; the hint says what can be done about it.
type failure struct {
	code  int
	cause error
	notes []string
	usage string
	hint  string
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

// misuse is the failure of a command that was called wrongly.
func misuse(err error, hint string) error {
	var own *failure
	if err == nil || errors.As(err, &own) {
		return err
	}
	return &failure{code: exitUsage, cause: err, hint: hint}
}

// miscall is the failure of a command whose arguments or flags are wrong.
func miscall(cmd *cobra.Command, err error, near []string) error {
	hint := cmp.Or(didYouMean(near), fmt.Sprintf("see %s --help", cmd.CommandPath()))
	var f *failure
	if err = misuse(err, hint); errors.As(err, &f) && f.usage == "" && !cmd.HasSubCommands() && cmd.Name() != helpName {
		f.usage = cmd.UseLine()
	}
	return err
}

// conclude reports what went wrong and gives the exit code.
func conclude(ctx context.Context, out io.Writer, err error) int {
	if err == nil {
		return 0
	}
	var ran remoteExit
	if errors.As(err, &ran) {
		return int(ran) // it has said what there is to say
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitFailed, cause: err}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		hint := f.hint
		if f.code == exitUnreached { // a request that was broken off says nothing of the server
			hint = ""
		}
		f = &failure{code: exitInterrupted, cause: errors.New("interrupted"), hint: hint}
		err = f
	}

	var own *compute.Error
	switch {
	case errors.Is(err, app.ErrNoDirectory):
		f = &failure{code: exitUsage, hint: "berth serve makes one, and --data names another"}
		err = fmt.Errorf("--data: %w", err)
	case errors.As(err, &own) && own.Code == compute.Unavailable && own.Cause != nil:
		err = fmt.Errorf("the database: %w", own.Cause) // it was opened here: there is no log to look into
	case own != nil:
		err = errors.New(own.Detail) // without the code: that is for clients
	}
	fmt.Fprintln(out, "berth:", err)
	for _, note := range f.notes {
		fmt.Fprintln(out, " ", note)
	}
	if f.usage != "" {
		fmt.Fprintln(out, "usage:", f.usage)
	}
	if f.hint != "" {
		fmt.Fprintln(out, "hint:", f.hint)
	}

	return f.code
}

// hinted adds a hint to a failure that has none.
func hinted(err error, hint string) error {
	var f *failure
	if !errors.As(err, &f) || f.hint != "" {
		return err
	}
	with := *f
	with.hint = hint
	return &with
}

// noted adds to a failure one more line of what there is to know.
func noted(err error, note string) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	with := *f
	with.notes = append(slices.Clone(f.notes), note)
	return &with
}
