package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

// keepNothing has a server keep nothing, and gives what removes its directory at the end. The error is the misuse of a setting that says
// where something is to be kept, wherever it is set.
func keepNothing(cmd *cobra.Command, c *app.Config) (remove func() error, err error) {
	for _, name := range []string{"data", "store"} {
		f := cmd.Flags().Lookup(name)
		from := "--" + name
		if set := f.Annotations[sourceMark]; len(set) > 0 {
			from = set[0] + ": " + name
		} else if !f.Changed {
			continue
		}
		return nil, misuse(fmt.Errorf("--ephemeral keeps nothing, and %s says where to keep it", from), "leave one of them out")
	}

	c.Ephemeral = true
	if c.Data, err = os.MkdirTemp("", "berth-"); err != nil {
		return nil, err
	}
	return func() error { return os.RemoveAll(c.Data) }, nil
}
