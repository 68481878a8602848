package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

func newDevCommand() *cobra.Command {
	flags := serverFlags{private: true, graphql: app.GraphQL{Introspection: true, Playground: true}}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dev HANDLER.py | dev -- COMMAND [ARG...]",
		Short: "Run the server with an endpoint for your handler",
		Long: `Run the server with one endpoint, "dev", whose worker is your handler: an unmodified worker program that takes its jobs
from the server. The worker is running before the first job, and what it prints is shown.`,
		Example: `  berth dev handler.py
  berth dev -- node worker.mjs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			command, err := devCommand(args, cmd.ArgsLenAtDash() == 0)
			if err != nil {
				return misuse(err, "see berth dev --help")
			}
			config, err := flags.config(cmd)
			if err != nil {
				return err
			}
			defer flags.flush()
			config.WorkerOutput = flags.lines // beside the log, and as little waited for
			config.Endpoints = []app.Endpoint{{Name: "dev", Command: command, WorkersMin: 1, WorkersMax: 1}}
			return serve(cmd.Context(), config, func(s *app.Server) error {
				out := cmd.OutOrStdout()
				if asJSON {
					return printReady(out, s)
				}
				key := s.FirstKey()
				if key == "" {
					key = "$BERTH_KEY"
				}
				fmt.Fprintf(out, "berth serves %s at %s (data in %s)\n", strings.Join(command, " "), s.URL(), config.Data)
				printPages(out, s)
				_, err := fmt.Fprintf(out, "Paste this to run a job:\n\n  %s\n\n", runSyncLine(s, "dev", key))
				return err
			})
		},
	}
	addServerFlags(cmd, &flags)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON (url, queueUrl, key, endpoints) when ready")
	return cmd
}

// devCommand gives the worker's program and arguments.
func devCommand(args []string, dashed bool) ([]string, error) {
	if len(args) == 0 {
		return nil, errors.New("name a handler file, or a command after --")
	}
	if dashed {
		return args, nil
	}
	if filepath.Ext(args[0]) != ".py" {
		return nil, fmt.Errorf("%s is not a .py file; give any other worker as a command after --", args[0])
	}
	handler, err := filepath.Abs(args[0])
	if err != nil {
		return nil, err
	}
	for _, python := range []string{"python", "python3"} {
		if path, err := exec.LookPath(python); err == nil {
			return append([]string{path, "-u", handler}, args[1:]...), nil
		}
	}
	return nil, errors.New("neither python nor python3 is on the PATH")
}
