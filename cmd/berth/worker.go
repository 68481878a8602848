package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/worker"
)

// The environment that every worker is given.
const (
	envTake         = "RUNPOD_WEBHOOK_GET_JOB"
	envDone         = "RUNPOD_WEBHOOK_POST_OUTPUT"
	envStream       = "RUNPOD_WEBHOOK_POST_STREAM"
	envPing         = "RUNPOD_WEBHOOK_PING"
	envPingInterval = "RUNPOD_PING_INTERVAL" // milliseconds; 10000 if it is not set
	envWorkerKey    = "RUNPOD_AI_API_KEY"
	envWorkerID     = "RUNPOD_POD_ID"
)

// The exit codes of a worker besides 0 and 1.
const (
	exitUsage = 2 // flags or environment make no sense
	exitCrash = 3 // the crash handler
)

// workerSettings are what a worker is given by its environment and its flags.
type workerSettings struct {
	worker.Settings
	id        string
	handler   string
	aggregate bool
	errorText string
}

func newWorkerCommand() *cobra.Command { return workerCommand(os.Getenv, os.Exit) }

// workerCommand takes the process's environment and its exit from outside, so that tests can have several.
func workerCommand(getenv func(string) string, exit func(int)) *cobra.Command {
	var s workerSettings
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run a worker with a built-in handler",
		Long: `Run a worker with a built-in handler. It speaks the worker protocol over HTTP like any other and is configured by the
environment that every worker gets: ` + strings.Join([]string{envTake, envDone, envStream, envPing, envPingInterval, envWorkerKey, envWorkerID}, ", ") + `.

Handlers:
  echo    the output is the input
  sleep   waits for input.ms milliseconds, then gives {"slept": ms}
  fail    fails with the text input.error, or that of --error
  stream  streams the values of the array input.chunks, or 0, 1, 2 … if input.chunks is a number (3 if there is none),
          input.ms milliseconds apart; the output is [], or all of them with --aggregate
  crash   exits with code 3 after input.ms milliseconds, with the job unfinished

On SIGTERM it takes no more jobs, finishes those that it has, and exits with code 0. A second SIGTERM ends it at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.complete(getenv); err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "berth: worker:", err)
				exit(exitUsage)
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)).With("worker", s.id)
			defer context.AfterFunc(cmd.Context(), func() { signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) })()
			s.worker(log, exit).Run(cmd.Context())
			return nil
		},
	}

	cmd.Flags().StringVar(&s.handler, "handler", "echo", "what to do with a job: echo, sleep, fail, stream or crash")
	cmd.Flags().IntVar(&s.Concurrency, "concurrency", 1, "how many jobs to run at once")
	cmd.Flags().BoolVar(&s.aggregate, "aggregate", false, "make the list of its chunks the output of stream")
	cmd.Flags().StringVar(&s.errorText, "error", "failed as asked", "the error of fail if the input has none")
	return cmd
}

// complete checks the flags and reads the environment. Its errors name what is wrong and never the key.
func (s *workerSettings) complete(getenv func(string) string) error {
	if handlers[s.handler] == nil {
		return fmt.Errorf("--handler: there is no handler %q", s.handler)
	}
	if s.Concurrency < 1 || s.Concurrency > worker.MaxConcurrency {
		return fmt.Errorf("--concurrency: %d is not between 1 and %d", s.Concurrency, worker.MaxConcurrency)
	}

	var missing []string
	for _, name := range []string{envTake, envDone, envStream, envPing, envWorkerKey, envWorkerID} {
		if getenv(name) == "" {
			missing = append(missing, name)
		}
	}

	if len(missing) > 0 {
		return fmt.Errorf("not set in the environment: %s", strings.Join(missing, ", "))
	}
	interval, err := strconv.Atoi(cmp.Or(getenv(envPingInterval), "10000"))
	if err != nil || interval <= 0 {
		return fmt.Errorf("%s: %q is not a number of milliseconds above 0", envPingInterval, getenv(envPingInterval))
	}

	s.PingInterval = time.Duration(interval) * time.Millisecond
	s.Key, s.id, s.Pauses = getenv(envWorkerKey), getenv(envWorkerID), worker.UsualPauses()
	s.Agent, s.Streams = "berth-worker/"+version, s.handler == handlerStream
	self := strings.NewReplacer("$RUNPOD_POD_ID", url.PathEscape(s.id))
	s.TakeURL = strings.ReplaceAll(self.Replace(getenv(envTake)), "$ID", url.PathEscape(s.id))
	s.DoneURL = self.Replace(getenv(envDone))
	s.StreamURL = self.Replace(getenv(envStream))
	s.PingURL = self.Replace(getenv(envPing))

	for name, address := range map[string]string{envTake: s.TakeURL, envDone: s.DoneURL, envStream: s.StreamURL, envPing: s.PingURL} {
		if u, err := url.Parse(address); err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
			return fmt.Errorf("%s: not an http or https URL", name)
		}
	}

	if !strings.Contains(s.TakeURL, worker.TakePath) {
		return errors.New(envTake + ": has no " + worker.TakePath + ", from which the other URLs are made")
	}
	return nil
}

// worker makes the worker with its built-in handler.
func (s *workerSettings) worker(log *slog.Logger, exit func(int)) *worker.Worker {
	run := handlers[s.handler]
	s.Proxy = http.ProxyFromEnvironment
	return worker.New(s.Settings, func(ctx context.Context, input json.RawMessage, emit worker.Emit) (json.RawMessage, error) {
		return run(ctx, input, handling{workerSettings: s, emit: emit, exit: exit})
	}, log.With("handler", s.handler))
}
