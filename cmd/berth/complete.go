package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completionTime is how long a shell waits for what the server has.
const completionTime = time.Second

// completion gives words that a shell may offer, each with a tab and what it is.
type completion func(ctx context.Context, c *connection, args []string) ([]string, error)

// values offers the words, to cobra. What cannot be had is not offered: a shell has no place for errors.
func (f completion) values(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if resolve(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := connect(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}

	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	words, err := f(ctx, c, args)
	if err != nil {
		words = nil
	}

	return words, cobra.ShellCompDirectiveNoFileComp
}

// words offers always the same.
func words(all ...string) completion {
	return func(context.Context, *connection, []string) ([]string, error) { return all, nil }
}

// first offers for the first argument only.
func (f completion) first() completion {
	return func(ctx context.Context, c *connection, args []string) ([]string, error) {
		if len(args) > 0 {
			return nil, nil
		}
		return f(ctx, c, args)
	}
}
