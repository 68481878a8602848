package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newHostsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hosts", Aliases: []string{"host"}, Short: "List, add, drain and remove the hosts of the fleet",
		Long: `List, add, drain and remove the hosts of the fleet, while the server runs. What is changed stays so when it is started again; the file
of --fleet is where it begins. The key needs the scope admin. The hosts of a runtime that schedules by itself are listed here, and changed
there.`,
	}
	cmd.AddCommand(newHostsListCommand(), newHostsAddCommand(), newHostsDrainCommand(), newHostsRemoveCommand())
	return cmd
}

var hostColumns = []column[controls.Host]{
	{head: "ID", value: func(h controls.Host) string { return h.ID }},
	{head: "DATA CENTER", value: func(h controls.Host) string { return h.DataCenterID }},
	{head: "GPU", value: func(h controls.Host) string { return pointed(h.Gpu) }},
	{head: "GPUS FREE", value: func(h controls.Host) string { return fmt.Sprintf("%d/%d", h.Free.Gpus, h.GpuCount) }},
	{head: "VCPUS FREE", value: func(h controls.Host) string { return fmt.Sprintf("%d/%d", h.Free.Vcpus, h.Vcpus) }},
	{head: "MEMORY FREE", value: func(h controls.Host) string { return fmt.Sprintf("%d/%d GB", h.Free.MemoryGb, h.MemoryGb) }},
	{head: "DISK FREE", value: func(h controls.Host) string { return fmt.Sprintf("%d/%d GB", h.Free.DiskGb, h.DiskGb) }},
	{head: "STATE", value: func(h controls.Host) string {
		switch {
		case h.Away != nil:
			return "away: " + *h.Away
		case h.Draining:
			return "draining"
		}
		return "in use"
	}},
}

func newHostsListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the hosts and what is free of each", Args: cobra.NoArgs,
		Example: "  berth hosts list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			list, document, err := fetch[controls.HostList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
				return c.controls.ListHosts(ctx)
			})
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, err)
			}
			return printTable(cmd, hostColumns, list.Hosts)
		},
	}
}

func newHostsAddCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "add", Short: "Add a host, which takes pods and workers from then on", Args: cobra.NoArgs,
		Long: `Add a host, which takes pods and workers from then on. It is described as in the file of --fleet: id, dataCenterId, gpu, gpuCount, cpus,
vcpus, memoryGb, diskGb and so on. With engine, the address of its container engine, it is a machine of its own; without vcpus, what it
has is found out by asking the engine, except for diskGb.`,
		Example: `  echo '{"id": "box-7", "dataCenterId": "EU-RO-1", "cpus": ["cpu3g"], "vcpus": 16, "memoryGb": 64, "diskGb": 500}' | berth hosts add --file -
  berth hosts add --file box-7.json
  echo '{"id": "box-8", "dataCenterId": "EU-RO-1", "engine": "ssh://berth@box-8", "diskGb": 500}' | berth hosts add --file -`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return misuse(errors.New("--file must name the file that describes the host"), "")
			}
			host, err := readDocument(cmd, file)
			if err != nil {
				return misuse(fmt.Errorf("--file: %w", err), "")
			}
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			return c.changeHost(cmd, func(ctx context.Context) (*http.Response, error) {
				return c.controls.AddHostWithBody(ctx, "application/json", strings.NewReader(host))
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "JSON file that describes the host; - is the standard input")
	return cmd
}

func newHostsDrainCommand() *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use: "drain ID", Short: "Place nothing more on a host; what is on it stays", Args: cobra.ExactArgs(1),
		Example: `  berth hosts drain box-7
  berth hosts drain box-7 --undo`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			return c.changeHost(cmd, func(ctx context.Context) (*http.Response, error) {
				return c.controls.ChangeHost(ctx, args[0], controls.HostChange{Draining: !undo})
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "use it again")
	return cmd
}

func newHostsRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Aliases: []string{"rm", "delete"}, Short: "Take a host out of the fleet; what runs there ends", Args: cobra.ExactArgs(1),
		Example: "  berth hosts remove box-7",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			if _, err = c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.RemoveHost(ctx, args[0]) }); err != nil {
				return err
			}
			return printDone(cmd, args[0], "removed")
		},
	}
}

// changeHost makes a request and prints the host that is the answer.
func (c *connection) changeHost(cmd *cobra.Command, r request) error {
	host, document, err := fetch[controls.Host](cmd.Context(), c, r)
	if err != nil || asJSON(cmd) {
		return orPrint(cmd, document, err)
	}
	return printTable(cmd, hostColumns, []controls.Host{host})
}

// orPrint prints the document, unless there was an error.
func orPrint(cmd *cobra.Command, document []byte, err error) error {
	if err != nil {
		return err
	}
	return printDocument(cmd, document)
}
