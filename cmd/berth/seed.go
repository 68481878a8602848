package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/seed"
)

func newSeedCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "seed", Short: "Check the files of berth serve --seed"}
	cmd.AddCommand(newSeedCheckCommand(), newSeedSchemaCommand())
	return cmd
}

// seedCount is how many items a list of a seed has.
type seedCount struct {
	List  string `json:"list"`
	Items int    `json:"items"`
}

func newSeedCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE|DIR",
		Short: "Check a seed without a server",
		Long: `Check a seed, a file or a directory of files, without a server. It prints everything that is wrong with its form, with
file, line, column and JSON Pointer. What only a server knows is found when it starts, such as whether a template exists that
the seed refers to and does not have.`,
		Example: "  berth seed check seed.yaml\n  berth seed check seeds/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := seed.Read(args[0])
			if err != nil {
				return err
			}
			counts := []seedCount{}
			var words []string
			for _, list := range seed.Lists() {
				n := 0
				for _, i := range s.Items {
					if i.List == list {
						n++
					}
				}
				if n > 0 {
					counts = append(counts, seedCount{list, n})
					words = append(words, fmt.Sprintf("%s: %d", list, n))
				}
			}

			if asJSON(cmd) {
				return printJSON(cmd, counts)
			}
			if len(words) == 0 {
				words = []string{"nothing"}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a seed with %s\n", args[0], strings.Join(words, ", "))
			return err
		},
	}
}

func newSeedSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print a JSON Schema of seeds, for editors",
		Example: "  berth seed schema > seed.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := seed.Schema()
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
