package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/queue"
)

// jobFields are those of a submission, besides the input.
func jobFields() []field {
	return []field{
		made("input", "/input", "the job's input: JSON, @FILE, or @- for the standard input", nil),
		text("webhook", "/webhook", "address to post the result to"),
		span("execution-timeout", "/policy/executionTimeout", "how long the job may be in progress, like 5m", time.Millisecond),
		span("ttl", "/policy/ttl", "how long the job may live in all, like 1h", time.Millisecond),
		truth("low-priority", "/policy/lowPriority", "run it after the others, and start no worker for it"),
	}
}

// submission is the body of run and runsync for a command.
func submission(cmd *cobra.Command) body {
	fields := jobFields()
	fields[0] = made("input", "/input", "the job's input: JSON, @FILE, or @- for the standard input", func(text string) (any, error) {
		return jobInput(cmd, text)
	})
	b := body{fields: fields}
	b.add(cmd)
	return b
}

// jobInput gives the JSON of --input.
func jobInput(cmd *cobra.Command, text string) (json.RawMessage, error) {
	if path, ok := strings.CutPrefix(text, "@"); ok {
		return readJSON(cmd, path)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("it is not JSON: %w", errSyntax([]byte(text)))
	}
	return json.RawMessage(text), nil
}

func newRunCommand() *cobra.Command {
	var w waiting
	var follow bool
	var b body
	cmd := &cobra.Command{
		Use:   "run ENDPOINT",
		Short: "Submit a job",
		Long: `Submit a job. It answers once the job is on disk; with --wait at the job's end. With --follow it prints what the job streams,
as it comes: text as it is, anything else as a line of JSON; its status goes to the standard error. With --follow and --json each
line is a document of the server: the job, the chunks of a read, and the job again at its end.`,
		Example: `  berth jobs run echo --input '{"hello":"berth"}' --wait
  berth jobs run words --input @prompt.json --follow
  berth jobs run words --file body.json --webhook https://example.com/done
  echo '{"n":3}' | berth jobs run words --input @-`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, document, err := readJob(cmd, args, b)
			if err != nil {
				return err
			}

			job, document, err := j.submit(&w, follow, 0, document, func(ctx context.Context, contentType string, body io.Reader) (*http.Response, error) {
				return j.queue.RunWithBody(ctx, j.endpoint, contentType, body)
			})
			if err != nil {
				return err
			}

			return j.finish(&w, follow, job, document)
		},
	}

	b = submission(cmd)
	addFollow(cmd, &w, &follow)
	return cmd
}

// submit submits a job to the endpoint that is named. It can be read again, unlike the standard input that it may come from.
// A long document has longer to come.
func (j *jobs) submit(w *waiting, follow bool, held time.Duration, document []byte, ask func(ctx context.Context, contentType string, body io.Reader) (*http.Response, error)) (job queue.Job, answer []byte, err error) {
	err = endpoints().kind().on(j.cmd.Context(), j.connection, j.named, func(id string) error {
		j.endpoint = id
		j.listen(w, follow)
		job, answer, err = j.job(j.cmd.Context(), held+timeToSend(document), func(ctx context.Context) (*http.Response, error) {
			return send(document, func(contentType string, body io.Reader) (*http.Response, error) { return ask(ctx, contentType, body) })
		})
		return err
	})
	return job, answer, err
}

// readJob gives the body of a submission, and to what endpoint, whose id is not known yet. Without flags for it the body's input is on the standard input, if
// that is no terminal.
func readJob(cmd *cobra.Command, args []string, b body) (*jobs, []byte, error) {
	if !cmd.Flags().Changed("input") && !cmd.Flags().Changed("file") {
		if f, ok := cmd.InOrStdin().(*os.File); ok && terminal(f) {
			return nil, nil, misuse(errors.New("there is no input"), "give it as --input JSON, --input @FILE or on the standard input")
		}
		if err := cmd.Flags().Set("input", "@-"); err != nil {
			return nil, nil, err
		}
	}

	document, err := b.read(cmd, nil) // its members name nothing
	if err != nil {
		return nil, nil, err
	}
	c, err := connect(cmd)
	return &jobs{connection: c, cmd: cmd, named: args[0]}, document, err
}

func newRunSyncCommand() *cobra.Command {
	w := waiting{wait: true}
	var b body
	cmd := &cobra.Command{
		Use:   "runsync ENDPOINT",
		Short: "Submit a job and wait for its end",
		Long: `Submit a job with runsync and wait for its end. The server keeps its result only for a minute, or five with a --timeout of
more than 90 seconds.`,
		Example: `  berth jobs runsync echo --input '{"hello":"berth"}'
  berth jobs runsync words --input @prompt.json --timeout 5m --json | jq .output`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, document, err := readJob(cmd, args, b)
			if err != nil {
				return err
			}
			hold := 300 * time.Second
			if w.timeout > 0 {
				hold = min(hold, max(shortestHold, w.timeout))
			}
			ms := hold.Milliseconds()

			begun := time.Now()
			job, document, err := j.submit(&w, false, hold, document, func(ctx context.Context, contentType string, body io.Reader) (*http.Response, error) {
				return j.queue.RunSyncWithBody(ctx, j.endpoint, &queue.RunSyncParams{Wait: &ms}, contentType, body)
			})
			if err != nil {
				return err
			}

			if w.timeout > 0 { // what is left of it
				w.timeout = max(time.Millisecond, w.timeout-time.Since(begun))
			}
			return j.finish(&w, false, job, document)
		},
	}

	b = submission(cmd)
	w.addTimeout(cmd, 90*time.Second)
	return cmd
}
