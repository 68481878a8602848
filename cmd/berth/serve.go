package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/setting"
)

// setUp makes the Config of a command with a server in it, as its settings say, and the log, which the caller flushes at the end.
func setUp(cmd *cobra.Command) (c app.Config, lines *observe.Log, err error) {
	values := valuesOf(cmd)
	if c, err = app.NewConfig(values); err != nil {
		return c, nil, wrongValue(cmd, err)
	}
	if c.Data, err = filepath.Abs(c.Data); err != nil {
		return c, nil, err
	}
	c.Log, lines = newLog(cmd.ErrOrStderr(), values)
	takeStandardLog(c.Log)
	c.LogDropped, c.Version = lines.Dropped, version
	return c, lines, misuse(addTraces(&c, os.Getenv), "")
}

// takeStandardLog has what libraries write past the log, such as what net/http has to say of programs in pods, be lines of it that are shown to who
// looks for them.
func takeStandardLog(to *slog.Logger) {
	stdlog.SetFlags(0) // the lines have their time
	stdlog.SetOutput(slog.NewLogLogger(to.Handler(), slog.LevelDebug).Writer())
}

// flush gives who reads the log a moment to read its end.
func flush(lines *observe.Log) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	lines.Flush(ctx)
}

func newServeCommand() *cobra.Command {
	var demo, asJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server: the REST and GraphQL APIs for pods, the queue API for jobs and the worker protocol, on one address.

Without flags it keeps its database in ./berth-data and listens on 127.0.0.1:8765. The first start of a data directory
creates a key and prints it, once. With --ephemeral it keeps no data. The workers of an endpoint that --endpoint declares are
processes of this machine.

--runtime sets what pods run on, and the workers of endpoints that are created over an API:
` + runtimesHelp() + `

Every setting can also be in the environment or in a configuration file; see berth config --help.`,
		Example: `  berth serve
  berth serve --endpoint 'echo=berth worker --handler echo'
  berth serve --endpoint 'images=python handler.py' --listen 0.0.0.0:8765
  berth serve --ephemeral --test-controls --json --listen 127.0.0.1:0
  berth serve --endpoint 'f08vqgrv1p2xkd:echo=berth worker --handler echo'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			config, lines, err := setUp(cmd)
			if err != nil {
				return err
			}
			defer flush(lines)

			if throwAway, _ := cmd.Flags().GetBool("ephemeral"); throwAway {
				remove, failed := keepNothing(cmd, &config)
				if failed != nil {
					return failed
				}
				defer func() { err = errors.Join(err, remove()) }()
			}

			if chosen, _ := cmd.Flags().GetString("first-key"); chosen != "" {
				if config.FirstKey, err = app.ReadFirstKey(chosen); err != nil {
					return misuse(fmt.Errorf("--first-key: %w", err), "")
				}
			}
			endpoints, _ := cmd.Flags().GetStringArray("endpoint")
			for _, e := range endpoints {
				declared, err := parseEndpoint(e)
				if err != nil {
					return misuse(err, "")
				}
				config.Endpoints = append(config.Endpoints, declared)
			}

			if demo {
				self, err := os.Executable()
				if err != nil {
					return err
				}
				config.Endpoints = append(config.Endpoints, app.Endpoint{Name: "demo", Command: []string{self, "worker", "--handler", "echo"}})
			}

			return wrongValue(cmd, serve(cmd.Context(), config, func(s *app.Server) error {
				out := cmd.OutOrStdout()
				if asJSON {
					return printReady(out, s, s.FirstKey())
				}
				printGreeting(out, s, config)
				if demo {
					return runDemo(cmd.Context(), out, s, cmp.Or(config.FirstKey, s.FirstKey()))
				}
				return nil
			}))
		},
	}

	addSettings(cmd, cmd.Flags(), settingsFor(setting.Server, setting.Serve))
	cmd.Flags().BoolVar(&demo, "demo", false, "create a pod and run a job once the server is up")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON (url, queueUrl, endpoints, and key, controlsKey, metricsUrl and ssh where there are such) when ready")
	return cmd
}

// runtimesHelp has a line for each kind of runtime.
func runtimesHelp() string {
	var lines []string
	for _, k := range app.Runtimes() {
		lines = append(lines, fmt.Sprintf("  %-8s %s", k.Name, k.Summary))
	}
	return strings.Join(lines, "\n")
}

// serve runs a server, calls ready once it is up, and keeps serving until ctx ends.
func serve(ctx context.Context, config app.Config, ready func(*app.Server) error) error {
	holdCollector()
	boundGarbage()
	floor := make([]byte, heapFloor)
	defer runtime.KeepAlive(&floor[0])

	if os.Getenv("GOMAXPROCS") == "" {
		// One more than there are processors: whoever writes to the disk holds one up for the length of the call, and Go takes
		// a while to see that. With 64 connections /run is answered at 1.1 of the rate.
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}

	// Without it the first line after whoever read the log has gone would end the process. It is not ignored: that would be
	// inherited by workers.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s, err := app.Start(ctx, config)
	if errors.Is(err, syscall.EADDRINUSE) {
		return &failure{code: exitFailed, cause: err, hint: "another program listens there, perhaps another berth; choose another address with --listen, --queue-listen or --metrics-listen, such as 127.0.0.1:0 for any free port"}
	}
	if err != nil {
		return err
	}
	if err := ready(s); err != nil && ctx.Err() == nil {
		return errors.Join(err, s.Close())
	}

	select {
	case <-ctx.Done():
		config.Log.Info("draining")
		return s.Close()
	case err := <-s.Failed():
		return errors.Join(err, s.Close())
	}
}

// parseEndpoint reads NAME=COMMAND or ID:NAME=COMMAND. The command is split at spaces, except inside single or double quotes. Without one the
// endpoint's workers are started by somebody else.
func parseEndpoint(text string) (app.Endpoint, error) {
	name, command, ok := strings.Cut(text, "=")
	argv, err := splitCommand(command)
	if err != nil {
		return app.Endpoint{}, fmt.Errorf("--endpoint %s: %w", name, err)
	}
	id, rest, hasID := strings.Cut(name, ":")
	if hasID {
		if err := compute.CheckEndpointID(compute.EndpointID(id)); err != nil {
			return app.Endpoint{}, fmt.Errorf("--endpoint %s: the id must have 14 lower-case letters and digits", name)
		}
		name = rest
	} else {
		id = ""
	}
	if !ok || name == "" {
		return app.Endpoint{}, fmt.Errorf("--endpoint %q: it must be NAME=COMMAND, or ID:NAME=COMMAND", text)
	}
	return app.Endpoint{ID: compute.EndpointID(id), Name: name, Command: argv}, nil
}

func splitCommand(command string) ([]string, error) {
	var argv []string
	var word strings.Builder
	var quote rune

	started := false
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t':
			if started {
				argv = append(argv, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}

	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if started {
		argv = append(argv, word.String())
	}

	return argv, nil
}

// printReady prints what a script needs. An empty key is not shown.
func printReady(out io.Writer, s *app.Server, key string) error {
	return json.NewEncoder(out).Encode(struct {
		URL       string `json:"url"`
		QueueURL  string `json:"queueUrl"`
		Key       string `json:"key,omitempty"`
		Controls  string `json:"controlsKey,omitempty"`
		Metrics   string `json:"metricsUrl,omitempty"`
		SSH       string `json:"ssh,omitempty"`
		Endpoints any    `json:"endpoints"`
	}{s.URL(), s.QueueURL(), key, s.ControlsKey(), s.MetricsURL(), s.SSHAddress(), s.Endpoints()})
}

// printGreeting prints what a person needs: where it is, the first key, and lines to paste.
func printGreeting(out io.Writer, s *app.Server, c app.Config) {
	where := "data in " + c.Data
	if c.Ephemeral {
		where = "nothing is kept"
	}
	fmt.Fprintf(out, "berth serves at %s (%s)\n", s.URL(), where)
	printPages(out, s)
	if pods := s.PodsURL(); pods != "" {
		fmt.Fprintf(out, "http ports of pods are shown at %s\n", pods)
	}
	if s.MetricsURL() != "" {
		fmt.Fprintf(out, "metrics are at %s\n", s.MetricsURL())
	}
	if s.SSHAddress() != "" {
		fmt.Fprintf(out, "pods are reached by ssh at %s\n", s.SSHAddress())
	}

	switch {
	case c.FirstKey != "":
		fmt.Fprint(out, "The key is that of --first-key. Paste these, with it:\n\n  export BERTH_KEY=...\n")
	case s.FirstKey() == "":
		fmt.Fprint(out, "The key was shown when the data directory was made. Paste these, with it:\n\n  export BERTH_KEY=...\n")
	default:
		fmt.Fprintf(out, "This key is shown once and stored as a hash. Paste these:\n\n  export BERTH_KEY=%s\n", s.FirstKey())
	}

	if s.ControlsKey() != "" {
		fmt.Fprintf(out, "  export BERTH_CONTROLS_KEY=%s\n", s.ControlsKey())
	}
	fmt.Fprintf(out, `  curl -s %[1]s/v2/pods -H "Authorization: Bearer $BERTH_KEY" -H 'Content-Type: application/json' -d '{"name":"first","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2}}'
  curl -s %[1]s/v2/pods -H "Authorization: Bearer $BERTH_KEY"
`, s.URL())
	for _, name := range sortedNames(s) {
		fmt.Fprintf(out, "  %s\n", runSyncLine(s, name, "$BERTH_KEY"))
	}
	fmt.Fprintln(out)
}

// printPages says where the pages are. The keys, which are shown beside it, are in a part of the console's address that browsers send to nobody.
func printPages(out io.Writer, s *app.Server) {
	if at := s.ConsoleURL(); at != "" {
		fragment := url.Values{}
		for name, key := range map[string]string{"key": s.FirstKey(), "controls": s.ControlsKey()} {
			if key != "" {
				fragment.Set(name, key)
			}
		}
		if len(fragment) > 0 {
			at += "#" + fragment.Encode()
		}
		fmt.Fprintf(out, "the console is at %s\n", at)
	}
	if pages := s.PagesURL(); pages != "" {
		fmt.Fprintf(out, "pages to read and to try it are at %s\n", pages)
	}
}

func sortedNames(s *app.Server) []string {
	var names []string
	for name := range s.Endpoints() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// runSyncLine is a shell line that runs a job of the endpoint.
func runSyncLine(s *app.Server, endpoint, key string) string {
	return fmt.Sprintf(`curl -s %s/v2/%s/runsync -H "Authorization: Bearer %s" -H 'Content-Type: application/json' -d '{"input":{"hello":"%s"}}'`,
		s.QueueURL(), s.Endpoints()[endpoint], key, endpoint)
}
