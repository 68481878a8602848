package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
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

// maxConcurrency is what the protocol lets a worker take at once.
const maxConcurrency = 1000

// workerSettings are what a worker is told by its environment and its flags.
type workerSettings struct {
	takeURL   string // $ID is filled in: it means the worker here
	doneURL   string // $ID is left: it means the job here
	streamURL string // as doneURL
	pingURL   string
	interval  time.Duration // between pings
	key       string
	id        string

	handler     string
	concurrency int
	aggregate   bool
	errorText   string
	pauses      workerPauses
}

// workerPauses are the waits of the protocol; tests shorten them.
type workerPauses struct {
	poll      time.Duration // how long a poll may be held
	afterPoll time.Duration // the least time from one poll to the next if nothing came of it
	afterFail time.Duration // after a poll that failed
	afterMany time.Duration // after a poll that was one too many: 429
	firstPost time.Duration // before the second attempt to post; doubles
	lastPost  time.Duration // what that doubling ends at
	post      time.Duration // after which a post is given up
}

var usualPauses = workerPauses{
	poll: 90 * time.Second, afterPoll: 100 * time.Millisecond, afterFail: time.Second, afterMany: 5 * time.Second,
	firstPost: 200 * time.Millisecond, lastPost: 5 * time.Second, post: time.Minute,
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

On SIGTERM it takes no more jobs, finishes those it has and exits with code 0. A second SIGTERM ends it at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.complete(getenv); err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "berth: worker:", err)
				exit(exitUsage)
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)).With("worker", s.id)
			defer context.AfterFunc(cmd.Context(), func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
			newWorker(s, log, exit).run(cmd.Context())
			return nil
		},
	}
	cmd.Flags().StringVar(&s.handler, "handler", "echo", "what to do with a job: echo, sleep, fail, stream or crash")
	cmd.Flags().IntVar(&s.concurrency, "concurrency", 1, "how many jobs to work on at once")
	cmd.Flags().BoolVar(&s.aggregate, "aggregate", false, "the output of stream is the list of its chunks")
	cmd.Flags().StringVar(&s.errorText, "error", "failed as asked", "the error of fail where the input has none")
	return cmd
}

// complete checks the flags and reads the environment. Its errors name what is wrong and never the key.
func (s *workerSettings) complete(getenv func(string) string) error {
	if handlers[s.handler] == nil {
		return fmt.Errorf("--handler: there is no handler %q", s.handler)
	}
	if s.concurrency < 1 || s.concurrency > maxConcurrency {
		return fmt.Errorf("--concurrency: %d is not between 1 and %d", s.concurrency, maxConcurrency)
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
	s.interval = time.Duration(interval) * time.Millisecond
	s.key, s.id, s.pauses = getenv(envWorkerKey), getenv(envWorkerID), usualPauses
	worker := strings.NewReplacer("$RUNPOD_POD_ID", url.PathEscape(s.id))
	s.takeURL = strings.ReplaceAll(worker.Replace(getenv(envTake)), "$ID", url.PathEscape(s.id))
	s.doneURL = worker.Replace(getenv(envDone))
	s.streamURL = worker.Replace(getenv(envStream))
	s.pingURL = worker.Replace(getenv(envPing))
	for name, address := range map[string]string{envTake: s.takeURL, envDone: s.doneURL, envStream: s.streamURL, envPing: s.pingURL} {
		if u, err := url.Parse(address); err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
			return fmt.Errorf("%s: not an http or https URL", name)
		}
	}
	if !strings.Contains(s.takeURL, takePath) {
		return errors.New(envTake + ": has no " + takePath + ", from which the other URLs are made")
	}
	return nil
}
