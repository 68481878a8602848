package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newClockCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "clock", Short: "Freeze the clock, advance it, or let it go by itself to what is due",
		Long: `Control the clock of a server with test controls (berth serve --test-controls). Everything that happens after a time, or is counted within one,
follows this clock. The key is that of the controls, which the server prints when it starts.`,
	}
	cmd.AddCommand(
		clockCommand("show", "Show what the clock shows and does", "  berth clock show", (*connection).getClock),
		clockCommand("freeze", "Make the clock stand still", "  berth clock freeze", (*connection).freezeClock),
		clockCommand("resume", "Make the clock run again from where it stands", "  berth clock resume", (*connection).resumeClock),
		newClockAdvanceCommand(), newClockAutoCommand(), newClockSleepCommand(), newClockStepCommand(),
	)
	return cmd
}

// clockColumns show a clock.
var clockColumns = []column[controls.Clock]{
	{head: "NOW", value: func(c controls.Clock) string { return textOf(c.Now) }},
	{head: "MODE", value: func(c controls.Clock) string { return string(c.Mode) }},
	{head: "UNTIL", value: func(c controls.Clock) string {
		if c.Until == nil {
			return "-"
		}
		return textOf(*c.Until)
	}},
	{head: "HELD", value: func(c controls.Clock) string { return textOf(c.Held) }},
}

// askClock is a request that is answered with the clock.
type askClock func(c *connection, ctx context.Context) (*http.Response, error)

func (c *connection) getClock(ctx context.Context) (*http.Response, error) {
	return c.controls.GetClock(ctx)
}

func (c *connection) freezeClock(ctx context.Context) (*http.Response, error) {
	return c.controls.FreezeClock(ctx)
}

func (c *connection) resumeClock(ctx context.Context) (*http.Response, error) {
	return c.controls.ResumeClock(ctx)
}

// aYear is longer than anybody waits for a clock.
const aYear = 365 * 24 * time.Hour

// printClock asks and prints the clock that is answered, after so long at most.
func printClock(cmd *cobra.Command, hold time.Duration, ask askClock) error {
	return controlled(cmd, "the clock takes", func(c *connection) error {
		document, err := c.hold(cmd.Context(), hold, func(ctx context.Context) (*http.Response, error) { return ask(c, ctx) })
		var clock controls.Clock
		if err == nil {
			clock, err = parse[controls.Clock](c, document)
		}
		if err != nil || asJSON(cmd) {
			return orPrint(cmd, document, err)
		}
		return printTable(cmd, clockColumns, []controls.Clock{clock})
	})
}

func clockCommand(name, short, example string, ask askClock) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printClock(cmd, 0, ask) },
	}
}

// millisecondsOf reads a duration of an argument, as whole milliseconds.
func millisecondsOf(name, text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		return 0, misuse(fmt.Errorf("%s: %q must not be less than 0", name, text), "")
	}
	if err != nil || d%time.Millisecond != 0 {
		return 0, misuse(fmt.Errorf("%s: %q is no duration of whole milliseconds", name, text), "such as 90s, 1h30m or 250ms")
	}
	return d.Milliseconds(), nil
}

func newClockAdvanceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "advance DURATION", Short: "Advance the clock, and do everything that is due on the way", Args: cobra.ExactArgs(1),
		Example: "  berth clock advance 30m",
		RunE: func(cmd *cobra.Command, args []string) error {
			milliseconds, err := millisecondsOf("DURATION", args[0])
			if err != nil {
				return err
			}
			return printClock(cmd, aYear, func(c *connection, ctx context.Context) (*http.Response, error) {
				return c.controls.AdvanceClock(ctx, controls.Advance{Milliseconds: milliseconds})
			})
		},
	}
}

func newClockAutoCommand() *cobra.Command {
	var most, settle string
	cmd := &cobra.Command{
		Use: "auto", Short: "Let the clock go to what is due by itself whenever everything waits", Args: cobra.NoArgs,
		Example: "  berth clock auto --for 24h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var body controls.AutoClock
			for _, flag := range []struct {
				name, text string
				member     **int64
			}{{"for", most, &body.Milliseconds}, {"settle", settle, &body.Settle}} {
				if !cmd.Flags().Changed(flag.name) {
					continue
				}
				milliseconds, err := millisecondsOf("--"+flag.name, flag.text)
				if err != nil {
					return err
				}
				*flag.member = &milliseconds
			}

			return printClock(cmd, aYear, func(c *connection, ctx context.Context) (*http.Response, error) {
				return c.controls.AutoClock(ctx, body)
			})
		},
	}
	cmd.Flags().StringVar(&most, "for", "", "how far it goes before it stands still, such as 24h; without it, as long as anything is due")
	cmd.Flags().StringVar(&settle, "settle", "", "how long, in the machine's time, no request comes before it goes on (default 20ms)")
	return cmd
}

func newClockSleepCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sleep DURATION", Short: "Wait until the clock has advanced by this much", Args: cobra.ExactArgs(1),
		Example: "  berth clock sleep 1h",
		RunE: func(cmd *cobra.Command, args []string) error {
			milliseconds, err := millisecondsOf("DURATION", args[0])
			if err != nil {
				return err
			}
			return printClock(cmd, aYear, func(c *connection, ctx context.Context) (*http.Response, error) {
				return c.controls.SleepClock(ctx, controls.Advance{Milliseconds: milliseconds})
			})
		},
	}
}

func newClockStepCommand() *cobra.Command {
	var back bool
	cmd := &cobra.Command{
		Use: "step DURATION", Short: "Make the time of day jump, as when the clock of the machine is corrected; nothing falls due by that", Args: cobra.ExactArgs(1),
		Example: "  berth clock step 1h\n  berth clock step 30s --back",
		RunE: func(cmd *cobra.Command, args []string) error {
			milliseconds, err := millisecondsOf("DURATION", args[0])
			if err != nil {
				return err
			}
			if back {
				milliseconds = -milliseconds
			}
			return printClock(cmd, 0, func(c *connection, ctx context.Context) (*http.Response, error) {
				return c.controls.StepClock(ctx, controls.Step{Milliseconds: milliseconds})
			})
		},
	}
	cmd.Flags().BoolVar(&back, "back", false, "step back")
	return cmd
}
