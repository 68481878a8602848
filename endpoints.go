package berth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/worker"
)

// Handler works on one job of an endpoint, in this program: it gives the job's output, which is encoded as JSON, or the error
// that fails the job. A panic fails the job too. The context ends when the job is cancelled or runs out of time, and when the
// server is closed.
type Handler func(ctx context.Context, input json.RawMessage) (output any, err error)

// StreamHandler is a Handler that streams: it gives emit one value after the other, each of which is encoded as JSON and can be read at once.
// The job's output is the list of them. An error of emit, which comes when the job is over, ends it.
type StreamHandler func(ctx context.Context, input json.RawMessage, emit func(value any) error) error

// Endpoint is a serverless endpoint that is there from the start. It has a Handler, a Stream or a Command, or none: then its workers
// are started by somebody else.
type Endpoint struct {
	// ID is 14 lower-case letters and digits. Empty: one is made, which stays in the data directory.
	ID   string
	Name string
	// Handler is run by a worker in this program, which speaks the worker protocol to the server like any other.
	Handler Handler
	// Stream is as Handler.
	Stream StreamHandler
	// Command is the program and the arguments of workers that the server starts as processes, as jobs come.
	Command []string
	// Workers is how many jobs Handler or Stream works on at once, or how many processes of Command there are at most; 0: 3.
	Workers int
}

const defaultWorkers = 3

func (e Endpoint) check() error {
	switch {
	case e.Name == "":
		return errors.New("endpoint: it has no Name")
	case e.Handler != nil && len(e.Command) > 0:
		return fmt.Errorf("endpoint %s: it has both a Handler and a Command", e.Name)
	case e.Stream != nil && (e.Handler != nil || len(e.Command) > 0):
		return fmt.Errorf("endpoint %s: it has both a Stream and a Handler or a Command", e.Name)
	case e.Workers < 0 || e.inProgram() && e.Workers > worker.MaxConcurrency:
		return fmt.Errorf("endpoint %s: Workers is %d; it must be from 0 to %d", e.Name, e.Workers, worker.MaxConcurrency)
	}
	return nil
}

// inProgram reports whether a worker in this program works on its jobs.
func (e Endpoint) inProgram() bool { return e.Handler != nil || e.Stream != nil }

// handler gives what that worker runs.
func (e Endpoint) handler() worker.Handler {
	if e.Stream != nil {
		return e.Stream.handler()
	}
	return func(ctx context.Context, input json.RawMessage, _ worker.Emit) (json.RawMessage, error) {
		output, err := e.Handler(ctx, input)
		if err != nil {
			return nil, err
		}
		return json.Marshal(output)
	}
}

// handler gives what a worker runs.
func (h StreamHandler) handler() worker.Handler {
	return func(ctx context.Context, input json.RawMessage, emit worker.Emit) (json.RawMessage, error) {
		all := []json.RawMessage{}
		err := h(ctx, input, func(value any) error {
			text, err := json.Marshal(value)
			if err != nil {
				return err
			}
			all = append(all, text)
			return emit(ctx, text)
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(all)
	}
}

// workerID is the id of the workers in this program. Endpoints do not see each other's.
const workerID = "in-process"

// work starts the worker of an endpoint with a Handler or a Stream. It ends before the server does. The endpoint may have another id in a state
// that is loaded.
func (s *Server) work(e Endpoint, log *slog.Logger) {
	first := s.QueueURL() + "/v2/"
	base := first + s.Endpoint(e.Name)
	pauses := worker.UsualPauses()
	pauses.AfterPoll, pauses.AfterFail = time.Millisecond, 10*time.Millisecond // a clock that is advanced ends the polls, and nobody else is served

	closing, end := context.WithCancel(context.Background())
	w := worker.New(worker.Settings{
		TakeURL: base + worker.TakePath + workerID + "?gpu=none", DoneURL: base + "/job-done/" + workerID + "/$ID?gpu=none",
		StreamURL: base + "/job-stream/" + workerID + "/$ID?gpu=none", PingURL: base + "/ping/" + workerID + "?gpu=none",
		PingInterval: 10 * time.Second, Key: s.key, Agent: "berth-embedded", Concurrency: cmp.Or(e.Workers, defaultWorkers), Pauses: pauses,
		Streams: e.Stream != nil,
		Address: func(url string) string {
			rest, of := strings.CutPrefix(url, base)
			id, known := s.app.Endpoints()[e.Name]
			if !of || !known {
				return url
			}
			return first + string(id) + rest
		},
	}, until(closing, e.handler()), log.With("endpoint", e.Name))

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(closing)
	}()

	s.later(func() error {
		end()
		<-ended
		return nil
	})
}

// errGoexit fails the job of a handler that has not returned.
var errGoexit = errors.New("the handler ended its goroutine, as t.FailNow does")

// until has a job that is at work when the server is closed given back, not failed, and a panic fail the job.
func until(closing context.Context, h worker.Handler) worker.Handler {
	return func(ctx context.Context, input json.RawMessage, emit worker.Emit) (output json.RawMessage, err error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(closing, func() { cancel(worker.ErrGivenBack) })()
		ended := make(chan struct{})
		err = errGoexit
		go func() { // its own, which it may end
			defer close(ended)
			defer func() {
				if p := recover(); p != nil {
					output, err = nil, fmt.Errorf("panic: %v", p)
				}
			}()
			output, err = h(ctx, input, emit)
		}()
		<-ended
		if err != nil && errors.Is(context.Cause(ctx), worker.ErrGivenBack) {
			err = worker.ErrGivenBack
		}
		return output, err
	}
}
