package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/impl/compute"
)

// checkedArguments has arguments checked: by their number, as the usage of a command has it, and then as the command itself does.
func checkedArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := countArguments(cmd, args)
		if err == nil {
			err = check(cmd, args)
		}
		return miscall(cmd, err, nil)
	}
}

// countArguments says which arguments are missing, or which one is too many. It knows nothing of commands that can be called in several ways.
func countArguments(cmd *cobra.Command, args []string) error {
	if strings.Contains(cmd.Use, " | ") {
		return nil
	}
	var needed []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(word, "[") || strings.Contains(word, "...") {
			return nil // the command checks what may be left out
		}
		needed = append(needed, word)
	}

	switch {
	case len(args) < len(needed):
		return fmt.Errorf("%s is missing", strings.Join(needed[len(args):], ", "))
	case len(args) == len(needed):
	case len(needed) > 0:
		return fmt.Errorf("%q is one argument too many", args[len(needed)])
	case !cmd.HasSubCommands(): // else the word is refused as none of these
		return fmt.Errorf("%s takes no arguments, but there is %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// flagWants is what values of flags must be, by the kind of the flag.
var flagWants = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint": "a whole number from 0", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "duration": "a duration such as 90s, 10m or 24h", "stringToString": "NAME=VALUE",
}

// refusedField is the misuse of the flag or the argument from which the field came that the error is about; any other error stays as it is.
func refusedField(err error, of map[string]string) error {
	refused, is := errors.AsType[*compute.Error](err)
	if !is || refused.Code != compute.Invalid || len(refused.Fields) == 0 {
		return err
	}
	for field, from := range of {
		if strings.HasPrefix(refused.Fields[0], field) {
			return misuse(fmt.Errorf("%s: %s", from, refused.Detail), "")
		}
	}
	return err
}

// errNegative refuses a time to wait that would be over before it began.
var errNegative = errors.New("it must not be negative")

// waitingTime is the value of a flag that says how long to wait.
type waitingTime time.Duration

// Set reads a duration.
func (t *waitingTime) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errNegative
	}
	if err == nil {
		*t = waitingTime(d)
	}
	return err
}

func (t *waitingTime) String() string { return time.Duration(*t).String() }

// Type is that of durations, by which the help names the value.
func (t *waitingTime) Type() string { return "duration" }

// waitingVar adds a flag that says how long to wait.
func waitingVar(flags *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, usage string) {
	*to = usual
	flags.Var((*waitingTime)(to), name, usage)
}

// flagError says which flag has a value that is none, and what it must be.
func flagError(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	if errors.Is(err, errNegative) {
		return fmt.Errorf("--%s %q: %w", wrong.GetFlag().Name, wrong.GetValue(), errNegative)
	}
	wants, known := flagWants[wrong.GetFlag().Value.Type()]
	if !known {
		return err
	}
	return fmt.Errorf("--%s %q: it must be %s", wrong.GetFlag().Name, wrong.GetValue(), wants)
}
