package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/impl/spelling"
)

// nearCommands gives the commands below this one that may have been meant by a name.
func nearCommands(cmd *cobra.Command, name string) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return nearest(name, names)
}

// nearFlags gives the flags of the command that may have been meant, if the error is that there is no such flag.
func nearFlags(cmd *cobra.Command, err error) []string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return nil
	}
	near := nearest(unknown.GetSpecifiedName(), namesOf(cmd.Flags()))
	for i := range near {
		near[i] = "--" + near[i]
	}
	return near
}

// didYouMean is a hint at what may have been meant, empty for nothing.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// choiceError is the misuse of what must be one of some words, with those that may have been meant.
func choiceError(what, value string, choices []string) error {
	last := len(choices) - 1
	return misuse(fmt.Errorf("%s: %q is not %s or %s", what, value, strings.Join(choices[:last], ", "), choices[last]), didYouMean(nearest(value, choices)))
}

// nearest gives those of the names that differ the least from the one that was written: by two letters at most, or by what it lacks
// at its end.
func nearest(written string, names []string) (near []string) {
	least := min(2, len(written)-1)
	for _, name := range names {
		d := spelling.Distance(strings.ToLower(written), strings.ToLower(name))
		if strings.HasPrefix(name, written) && len(written) > 1 {
			d = 1
		}

		switch {
		case d < least:
			least, near = d, []string{name}
		case d == least:
			near = append(near, name)
		}
	}

	return near
}
