// Command berth is the whole service in one program: the server, a worker, and the tools around them. Cobra reads the
// command line: it is what the field uses.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/compute"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		var own *compute.Error
		if errors.As(err, &own) {
			err = errors.New(own.Detail) // without the code: that is for clients
		}
		fmt.Fprintln(os.Stderr, "berth:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "berth",
		Short:         "Pods and serverless jobs on your own machines",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServeCommand(), newDevCommand(), newWorkerCommand(), newKeysCommand(), newConformanceCommand(), newDoctorCommand(), newSpecCommand(), newVersionCommand())
	root.AddCommand(newHealthcheckCommand())
	return root
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "berth", version)
			return err
		},
	}
}
