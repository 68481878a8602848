package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/observe"
)

// serverFlags are the flags that every command with a server in it has.
type serverFlags struct {
	data        string
	listen      string
	queueListen string
	drain       time.Duration
	retention   time.Duration // of terminated pods
	lease       time.Duration
	quotas      app.Quotas
	queueRates  string
	observe     observeFlags
	controls    bool
	private     bool // webhooks may go to private addresses
	runtime     string
	pull        string
	processEnv  []string
	accept      []string // what may be set of processes
	privileges  bool
	publishOn   string
	workerURL   string
	catalog     string
	fleet       string
	graphql     app.GraphQL
	docs        bool
	connections int
	stall       time.Duration
	hosts       []string
	publicURL   string
	proxies     []string

	lines *observe.Log // of the log, once there is a config
}

func (f *serverFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.data, "data", "berth-data", "directory of the database; made if it does not exist")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8765", "address of all interfaces; port 0 picks one")
	cmd.Flags().StringVar(&f.queueListen, "queue-listen", "", "a second address, for clients of the queue and workers")
	cmd.Flags().DurationVar(&f.drain, "drain", 10*time.Second, "how long requests may take to end at shutdown")
	cmd.Flags().DurationVar(&f.retention, "pod-retention", 24*time.Hour, "how long the row of a terminated pod is kept; its environment, arguments and log go at once")
	cmd.Flags().DurationVar(&f.lease, "lease", 30*time.Second, "how long a job may go unheard of before another worker gets it; at least 3s")
	cmd.Flags().Int64Var(&f.quotas.Minute, "quota-minute", 1_000, "REST requests that a user may make in a minute")
	cmd.Flags().Int64Var(&f.quotas.Hour, "quota-hour", 30_000, "REST requests that a user may make in an hour")
	cmd.Flags().Int64Var(&f.quotas.Day, "quota-day", 500_000, "REST requests that a user may make in a day")
	cmd.Flags().StringVar(&f.queueRates, "queue-rates", "none", "limits on the requests of queues: none, or published for the published numbers in 10 s")
	cmd.Flags().StringVar(&f.catalog, "catalog", "", "file with the GPU types, CPU flavors, data centers and public templates; without it the built-in one")
	cmd.Flags().StringVar(&f.fleet, "fleet", "", "file with the hosts that pods are placed on, or the word machine for this one; without it a simulated fleet with plenty of everything")
	cmd.Flags().BoolVar(&f.private, "private-webhooks", f.private, "permit webhooks on loopback and private addresses")
	cmd.Flags().StringVar(&f.runtime, "runtime", app.RuntimeSim, "what pods and workers run on: sim, process or docker; see berth doctor")
	cmd.Flags().StringVar(&f.pull, "pull", "if-absent", "when docker pulls images: if-absent, always or never")
	cmd.Flags().StringArrayVar(&f.processEnv, "process-env", nil, "NAME: a variable of this environment that processes get besides PATH, HOME, LANG, PYTHON* and what else every program needs; repeatable")
	cmd.Flags().StringArrayVar(&f.accept, "process-accept", nil, "what pods and endpoints made over an API may set of processes: args, env for every variable, or env:NAME for one; repeatable; nothing without it, since it lets who has a key run programs")
	cmd.Flags().BoolVar(&f.privileges, "allow-new-privileges", false, "let programs in containers gain privileges, by sudo and the like")
	cmd.Flags().StringVar(&f.publishOn, "publish-on", "127.0.0.1", "address of this host that docker publishes the ports of pods on")
	cmd.Flags().StringVar(&f.workerURL, "worker-url", "", "base of the queue as workers in containers reach it; without it the queue's own address, or host.docker.internal where that is a loopback one")
	cmd.Flags().BoolVar(&f.controls, "test-controls", false, "serve /_berth/ for tests: the clock, reset, keys, quotas, faults; its key is printed")
	cmd.Flags().BoolVar(&f.graphql.Introspection, "graphql-introspection", f.graphql.Introspection, "let clients of GraphQL read the schema")
	cmd.Flags().IntVar(&f.graphql.Limits.Depth, "graphql-depth", 20, "how deep the fields of a GraphQL document may nest")
	cmd.Flags().IntVar(&f.graphql.Limits.Fields, "graphql-fields", 500, "how many fields a GraphQL document may ask for")
	cmd.Flags().IntVar(&f.graphql.Limits.Aliases, "graphql-aliases", 50, "how many aliases a GraphQL document may have")
	cmd.Flags().BoolVar(&f.docs, "docs", true, "serve pages at /docs to read the documents and to send requests from")
	cmd.Flags().IntVar(&f.connections, "max-connections", 0, "how many connections there may be; 0: 4096, or three quarters of the files that the process may have open if that is less")
	cmd.Flags().DurationVar(&f.stall, "stall-timeout", 20*time.Second, "how long a client that is waited for may take for each 64 KB that it sends or reads")
	cmd.Flags().StringArrayVar(&f.hosts, "allowed-host", nil, "a host name of the server, such as that of a proxy before it: pages that ask for no key are shown under such names alone; .example.com for all below, * for any; repeatable")
	cmd.Flags().StringVar(&f.publicURL, "public-url", "", "base under which clients reach the server, such as https://pods.example.com of a proxy before it: it is in every URL that the server gives out, and its host is allowed")
	cmd.Flags().StringArrayVar(&f.proxies, "trusted-proxies", nil, "addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-Proto and X-Forwarded-Host are believed; repeatable; nobody's without it")
	f.observe.add(cmd)
}

// check refuses values that make no sense.
func (f *serverFlags) check() error {
	if f.retention <= 0 {
		return misuse(fmt.Errorf("--pod-retention %s: it must be longer than 0", f.retention), "")
	}
	if f.lease < app.LeastLease {
		return misuse(fmt.Errorf("--lease %s: it must be at least %s", f.lease, app.LeastLease), "")
	}
	for name, value := range map[string]string{"runtime": f.runtime, "pull": f.pull, "queue-rates": f.queueRates} {
		if !slices.Contains(choices[name], value) {
			return misuse(fmt.Errorf("--%s: %q is none of %s", name, value, strings.Join(choices[name], ", ")), "")
		}
	}
	for name, address := range map[string]string{"listen": f.listen, "queue-listen": f.queueListen, "metrics-listen": f.observe.metrics} {
		if address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return misuse(fmt.Errorf("--%s: %w", name, err), "it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one")
		}
	}
	return nil
}

func (f *serverFlags) config(cmd *cobra.Command) (app.Config, error) {
	if err := f.check(); err != nil {
		return app.Config{}, err
	}
	log, lines, err := f.observe.log(cmd.ErrOrStderr())
	if err != nil {
		return app.Config{}, err
	}
	f.lines = lines
	data, err := filepath.Abs(f.data)
	if err != nil {
		return app.Config{}, err
	}
	c := app.Config{
		Data: data, Listen: f.listen, QueueListen: f.queueListen, Drain: f.drain, PodRetention: f.retention, Lease: f.lease, Quotas: f.quotas, QueueRates: compute.QueuePreset(f.queueRates),
		TestControls: f.controls, PrivateWebhooks: f.private,
		Runtime: f.runtime, ProcessEnv: f.processEnv, ProcessAccept: f.accept, AllowNewPrivileges: f.privileges, Pull: f.pull, PublishOn: f.publishOn, WorkerURL: f.workerURL,
		Catalog: f.catalog, Fleet: f.fleet,
		GraphQL: f.graphql, Docs: f.docs,
		MaxConnections: f.connections, StallTimeout: f.stall, AllowedHosts: f.hosts, PublicURL: f.publicURL, TrustedProxies: f.proxies,
		Log: log, LogDropped: lines.Dropped,
	}
	return c, f.observe.config(&c, os.Getenv)
}

// flush gives who reads the log a moment to read its end.
func (f *serverFlags) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	f.lines.Flush(ctx)
}

func newServeCommand() *cobra.Command {
	var flags serverFlags
	var endpoints []string
	var demo, asJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server: the REST and GraphQL APIs for pods, the queue API for jobs and the worker protocol, on one address.

Without flags it keeps its database in ./berth-data and listens on 127.0.0.1:8765. The first start of a data directory
makes a key and prints it, once. The workers of an endpoint that --endpoint declares are processes of this machine.

Pods, and the workers of endpoints that are created over REST, run on a simulated fleet, where nothing is started, or with --runtime docker as containers of a Docker Engine, which
outlive berth and are taken up again by it; with --runtime process they are processes of this machine, where a pod's image is
the name of an endpoint and means its command, to which nothing is added unless --process-accept says what.`,
		Example: `  berth serve
  berth serve --endpoint 'echo=berth worker --handler echo'
  berth serve --endpoint 'images=python handler.py' --listen 0.0.0.0:8765`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.config(cmd)
			if err != nil {
				return err
			}
			defer flags.flush()
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
			return serve(cmd.Context(), config, func(s *app.Server) error {
				out := cmd.OutOrStdout()
				if asJSON {
					return printReady(out, s, s.FirstKey())
				}
				printGreeting(out, s, config.Data)
				if demo {
					return runDemo(cmd.Context(), out, s)
				}
				return nil
			})
		},
	}
	addServerFlags(cmd, &flags)
	addEndpoints(cmd, &endpoints)
	cmd.Flags().BoolVar(&demo, "demo", false, "create a pod and run a job once the server is up")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON (url, queueUrl, key, controlsKey, metricsUrl, endpoints) when ready")
	return cmd
}

// addEndpoints adds the flag that declares endpoints.
func addEndpoints(cmd *cobra.Command, endpoints *[]string) {
	cmd.Flags().StringArrayVar(endpoints, "endpoint", nil, "NAME=COMMAND: an endpoint whose workers are processes of the command, or workers of your own if it is empty; repeatable")
	asSettings(cmd.Flags(), "endpoint")
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

// parseEndpoint reads NAME=COMMAND. The command is split at spaces, except inside single or double quotes. Without one the
// endpoint's workers are started by somebody else.
func parseEndpoint(text string) (app.Endpoint, error) {
	name, command, ok := strings.Cut(text, "=")
	argv, err := splitCommand(command)
	if err != nil {
		return app.Endpoint{}, fmt.Errorf("--endpoint %s: %w", name, err)
	}
	if !ok || name == "" {
		return app.Endpoint{}, fmt.Errorf("--endpoint %q: it must be NAME=COMMAND", text)
	}
	return app.Endpoint{Name: name, Command: argv}, nil
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
		Endpoints any    `json:"endpoints"`
	}{s.URL(), s.QueueURL(), key, s.ControlsKey(), s.MetricsURL(), s.Endpoints()})
}

// printGreeting prints what a person needs: where it is, the first key, and lines to paste.
func printGreeting(out io.Writer, s *app.Server, data string) {
	fmt.Fprintf(out, "berth serves at %s (data in %s)\n", s.URL(), data)
	printPages(out, s)
	if s.MetricsURL() != "" {
		fmt.Fprintf(out, "metrics are at %s\n", s.MetricsURL())
	}
	if s.FirstKey() == "" {
		fmt.Fprint(out, "The key was shown when the data directory was made. Paste these, with it:\n\n  export BERTH_KEY=...\n")
	} else {
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

// printPages says where the pages are.
func printPages(out io.Writer, s *app.Server) {
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
