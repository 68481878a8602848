package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

const controlsTake = "the test controls take"

func newControlsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "controls", Aliases: []string{"control"}, Short: "Reset a server with test controls, and set its quotas, fleet and storage",
		Long: `Reset a server with test controls (berth serve --test-controls), set its quotas, how its simulated fleet behaves and whether its storage takes
writes, and interrupt pods and workers. The key is that of the controls, which the server prints when it starts. The other controls are commands
of their own: clock, faults, script, states, journal, webhooks, costs.`,
	}
	cmd.AddCommand(newControlsResetCommand(), newControlsQuotasCommand(), newControlsFleetCommand(), newControlsStorageCommand(), newControlsInterruptCommand())
	return cmd
}

func newControlsResetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reset", Short: "Forget everything but users, keys, declared endpoints and the clock", Args: cobra.NoArgs,
		Long: `Forget everything but users, keys, declared endpoints and the clock. Quotas, faults, the storage and the fleet go back to what the server was started
with, and what its seed has is there again.`,
		Example: "  berth controls reset",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, controlsTake, func(c *connection) error { return c.reset(cmd.Context()) })
		},
	}
}

// reset has the server forget everything, which takes the longer the more there is.
func (c *connection) reset(ctx context.Context) error {
	_, err := c.hold(ctx, longWork, func(ctx context.Context) (*http.Response, error) { return c.controls.ResetState(ctx) })
	return err
}

// putCommand makes of cmd one that sets something of the server to a document.
func putCommand(cmd *cobra.Command, b body, ask func(ctx context.Context, c *connection, contentType string, body io.Reader) (*http.Response, error)) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		document, err := b.read(cmd, nil) // its members name nothing
		if err != nil {
			return err
		}
		return controlled(cmd, controlsTake, func(c *connection) error {
			_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
				return send(document, func(contentType string, body io.Reader) (*http.Response, error) {
					return ask(ctx, c, contentType, body)
				})
			})
			return err
		})
	}
	b.add(cmd)
	return cmd
}

func quotaFields() []field {
	return []field{
		number("minute", "/minute", "how many requests a user may make in a minute"),
		number("hour", "/hour", "how many in an hour"),
		number("day", "/day", "how many in a day"),
		choice("queue", "/queue", "the limits on requests of the queue: none or published; without it they stay", "none", "published"),
	}
}

func newControlsQuotasCommand() *cobra.Command {
	return putCommand(&cobra.Command{
		Use: "quotas", Aliases: []string{"quota"}, Short: "Set how many requests a user may make",
		Long:    "Set how many requests a user may make. The counts of the present windows begin again at zero.",
		Example: "  berth controls quotas --minute 60 --hour 1000 --day 10000",
	}, body{fields: quotaFields()}, func(ctx context.Context, c *connection, contentType string, body io.Reader) (*http.Response, error) {
		return c.controls.SetQuotasWithBody(ctx, contentType, body)
	})
}

func fleetFields() []field {
	return []field{
		span("boot", "/boot", "how long a pod that is started from now on takes until it is up, like 20s", time.Millisecond),
		span("interrupt-after", "/interruptAfter", "how long an interruptible pod runs on average until it is interrupted; 0: until that is asked for", time.Millisecond),
		number("interrupt-seed", "/interruptSeed", "the same seed draws the same times again"),
	}
}

func newControlsFleetCommand() *cobra.Command {
	return putCommand(&cobra.Command{
		Use: "fleet", Short: "Set how the simulated fleet behaves, for pods that are created or started from now on",
		Long: `Set how the simulated fleet behaves, for pods that are created or started from now on. The member capacity, a list of hosts, can only be set from a
file; spec/controls.yaml has the members.`,
		Example: `  berth controls fleet --boot 20s --interrupt-after 1h --interrupt-seed 7
  echo '{"capacity": [{"gpu": "NVIDIA L4", "dataCenterId": "EU-RO-1", "count": 1}]}' | berth controls fleet --file -`,
	}, body{fields: fleetFields()}, func(ctx context.Context, c *connection, contentType string, body io.Reader) (*http.Response, error) {
		return c.controls.SetFleetWithBody(ctx, contentType, body)
	})
}

// storageStates are what the storage may be set to.
var storageStates = []string{"writable", "full", "failing", "locked"}

func newControlsStorageCommand() *cobra.Command {
	return &cobra.Command{
		Use: "storage writable|full|failing|locked", Short: "Set whether the storage takes writes", Args: cobra.ExactArgs(1), ValidArgs: storageStates,
		Long: `Set whether the storage accepts writes. While it does not, requests that would write are refused, as when the disk is full or fails, or when
another program keeps the database locked.`,
		Example: "  berth controls storage full\n  berth controls storage writable",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(storageStates, args[0]) {
				return choiceError("the state", args[0], storageStates)
			}
			return controlled(cmd, controlsTake, func(c *connection) error {
				_, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
					return c.controls.SetStorage(ctx, controls.Storage{State: controls.StorageState(args[0])})
				})
				return err
			})
		},
	}
}

func newControlsInterruptCommand() *cobra.Command {
	var pod, endpoint, worker string
	cmd := &cobra.Command{
		Use: "interrupt", Short: "Interrupt pods or workers, as when somebody else gets their room", Args: cobra.NoArgs,
		Long: `Interrupt pods or workers, as when somebody else gets their room: they get SIGTERM, and SIGKILL five seconds later. Pods are then EXITED,
and the jobs of workers go back to the queue. Without a flag it interrupts every interruptible pod.`,
		Example: "  berth controls interrupt\n  berth controls interrupt --pod k3v9x2m1q8w7rt\n  berth controls interrupt --endpoint f08vqgrv1p2xkd",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return controlled(cmd, controlsTake, func(c *connection) error {
				var what controls.Interrupt
				var err error
				switch {
				case pod != "":
					pod, err = pods().kind().withControls(cmd.Context(), c, pod)
					what.Pod = &pod
				case endpoint != "":
					endpoint, err = endpoints().kind().withControls(cmd.Context(), c, endpoint)
					what.Endpoint = &endpoint
				case worker != "":
					what.Worker = &worker
				}
				if err != nil {
					return err
				}

				n, document, err := fetch[controls.Interrupted](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) { return c.controls.InterruptWork(ctx, what) })
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, err)
				}
				return say(cmd, fmt.Sprintf("interrupted %d pods and %d workers", n.Pods, n.Workers))
			})
		},
	}

	flags := cmd.Flags()
	flags.StringVar(&pod, "pod", "", "this pod, by id")
	flags.StringVar(&endpoint, "endpoint", "", "all workers of this endpoint, by id")
	flags.StringVar(&worker, "worker", "", "this worker, by id")
	cmd.MarkFlagsMutuallyExclusive("pod", "endpoint", "worker")
	_ = cmd.RegisterFlagCompletionFunc("pod", idsOf(pods).values)
	_ = cmd.RegisterFlagCompletionFunc("endpoint", idsOf(endpoints).values)
	return cmd
}
