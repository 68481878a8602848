package main

import (
	"io"

	"github.com/spf13/cobra"
)

// newCompletionCommand is in place of cobra's own, which takes a shell that it does not know for a wish for help.
func newCompletionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "completion", Short: "Write the script by which a shell completes commands, flags and what the server has",
		Long: "Write the script by which a shell completes commands, flags and what the server has.", GroupID: "server",
	}
	for _, shell := range []struct {
		name, load string
		write      func(root *cobra.Command, out io.Writer) error
	}{
		{"bash", `source <(berth completion bash)`, func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) }},
		{"fish", `berth completion fish > ~/.config/fish/completions/berth.fish`, func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) }},
		{"powershell", `berth completion powershell | Out-String | Invoke-Expression`, (*cobra.Command).GenPowerShellCompletionWithDesc},
		{"zsh", `source <(berth completion zsh)`, (*cobra.Command).GenZshCompletion},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: shell.name, Short: "Write the script for " + shell.name, Args: cobra.NoArgs, Example: "  " + shell.load,
			RunE: func(cmd *cobra.Command, _ []string) error { return shell.write(cmd.Root(), cmd.OutOrStdout()) },
		})
	}
	return cmd
}
