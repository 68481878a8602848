// Package shell runs commands in pods and workers for their owners. Who asks reaches it by HTTP or SSH; here is who may, how many
// sessions there may be at a time, and what is noted of them: never what is said in one.
package shell

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// How many commands there are at a time. Each is a process in a pod, and a connection here.
const (
	mostSessions = 1024
	mostOfUser   = mostSessions * 3 / 4
	mostOfOne    = 64 // of one pod or worker
)

// Pods finds pods.
type Pods interface {
	// GetPod gives the user's pod. NotFound for an unknown, a terminated and somebody else's one.
	GetPod(ctx context.Context, user compute.UserID, id compute.PodID) (compute.Pod, error)
}

// Workers finds workers.
type Workers interface {
	// Worker gives the user's endpoint, if the worker is or was one of it. NotFound for all others.
	Worker(ctx context.Context, user compute.UserID, id compute.EndpointID, worker compute.WorkerID) (compute.Endpoint, error)
}

// Config is what Shells are made of.
type Config struct {
	Pods     Pods
	Workers  Workers
	OfPods   runtime.Execer                        // what pods run on
	OfWorker func(compute.Endpoint) runtime.Execer // what the workers of an endpoint run on
	Ending   context.Context                       // every session ends with it
	Clock    compute.Clock                         // it must run
	Log      *slog.Logger
	Opened   func(ctx context.Context, kind, id string, by By) // called for each session before it begins; nil: nobody is told
}

// Shells runs commands.
type Shells struct {
	Config

	running sync.WaitGroup

	mu    sync.Mutex
	over  bool           // there will be no more
	of    map[string]int // by the id of the pod or worker; none is 0
	users compute.Share[compute.UserID]
}

// New makes Shells.
func New(c Config) *Shells { return &Shells{Config: c, of: map[string]int{}} }

// Target is what commands are to run in. The zero Target is nothing.
type Target struct {
	id   string
	kind string // pod or worker
	on   runtime.Execer
}

// Pod gives the user's pod. NotFound as for Pods.GetPod, and Conflict for one that does not run.
func (s *Shells) Pod(ctx context.Context, user compute.UserID, id compute.PodID) (Target, error) {
	pod, err := s.Pods.GetPod(ctx, user, id)
	if err != nil {
		return Target{}, err
	}
	if pod.Status != compute.PodRunning {
		return Target{}, compute.Errorf(compute.Conflict, "the pod is %s: commands run in it once it is %s", pod.Status, compute.PodRunning)
	}
	return Target{id: string(id), kind: "pod", on: s.OfPods}, nil
}

// Worker gives a worker of the user's endpoint. NotFound as for Workers.Worker; that it is up shows when a command is to run.
func (s *Shells) Worker(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.WorkerID) (Target, error) {
	e, err := s.Workers.Worker(ctx, user, endpoint, id)
	if err != nil {
		return Target{}, err
	}
	return Target{id: string(id), kind: "worker", on: s.OfWorker(e)}, nil
}

// By says who asks for a session, for those who are told of it.
type By struct {
	User    compute.UserID
	Through string // http or ssh
	Of      string // the key that shows who it is: the id of an API key, or the fingerprint of one of SSH
	From    string // the address of the client; empty: it is not known
	Request string // id of the request; empty: there is none
	Part    bool   // what runs is a part of a session that was told of already: one of many commands that transfer a file
}

// Session is room for one command.
type Session struct {
	shells *Shells
	target Target
	by     By
	once   sync.Once
}

// Wait returns once every session has ended, which Ending has them do, and no more begin.
func (s *Shells) Wait() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.running.Wait()
}

// Begin makes room for a command, until End. TooMany if there are as many as there may be, and Unavailable when the server ends.
func (s *Shells) Begin(t Target, by By) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, compute.Errorf(compute.Unavailable, "%s", Ending)
	case s.of[t.id] >= mostOfOne:
		return nil, compute.NoMoreNow("the %s has %d sessions, which is as many as it may have", t.kind, mostOfOne)
	case !s.users.Enter(by.User, mostSessions, mostOfUser):
		return nil, compute.NoMoreNow("the server has no room for more sessions: there may be %d in all, and %d of a user", mostSessions, mostOfUser)
	}
	s.running.Add(1)
	s.of[t.id]++
	return &Session{shells: s, target: t, by: by}, nil
}

// End gives the room back.
func (one *Session) End() {
	one.once.Do(func() {
		s := one.shells
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running.Done()
		s.users.Leave(one.by.User)
		if s.of[one.target.id]--; s.of[one.target.id] == 0 {
			delete(s.of, one.target.id)
		}
	})
}

// Refusal is the reason, for who asks, why a command did not run or did not end by itself.
type Refusal string

// Error gives the text.
func (r Refusal) Error() string { return string(r) }

// The refusals.
const (
	Simulated Refusal = "no commands run here: what the server has is simulated"
	NoExec    Refusal = "no commands run here: what the server runs pods and workers on does not run any"
	NotTaken  Refusal = "no commands run here: the server runs processes of its own machine, beside which its settings let none run (process-accept: commands)"
	NotUp     Refusal = "it does not run, or has ended"
	Away      Refusal = "what it runs on does not answer: try again later"
	Ending    Refusal = "the server ends"
	Broken    Refusal = "the command could not be run: the log of the server says why"
)

// Run runs a command, or where it has no words a shell, and gives its exit code. The error is a Refusal, or that of ctx.
func (one *Session) Run(ctx context.Context, e runtime.Exec) (int, error) {
	s := one.shells
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Ending, cancel)()
	if len(e.Command) == 0 {
		e.Command = loginShell(e.TTY != nil)
	}

	if e.TTY != nil && !slices.ContainsFunc(e.Env, func(v string) bool { return strings.HasPrefix(v, "TERM=") }) {
		e.Env = append(slices.Clone(e.Env), "TERM=xterm-256color") // what nearly all of them are
	}

	level := slog.LevelInfo
	if one.by.Part {
		level = slog.LevelDebug
	} else if s.Opened != nil {
		s.Opened(ctx, one.target.kind, one.target.id, one.by)
	}
	begin := s.Clock.Now()
	words := []any{one.target.kind, one.target.id, "user", one.by.User, "through", one.by.Through, "key", one.by.Of, "from", one.by.From, "terminal", e.TTY != nil}
	s.Log.Log(ctx, level, "a session began", words...)
	code, err := one.target.on.Exec(ctx, one.target.id, e)
	words = append(words, "took", s.Clock.Now().Sub(begin))
	var refusal Refusal
	switch {
	case err == nil:
		s.Log.Log(ctx, level, "a session ended", append(words, "exit", code)...)
		return code, nil
	case s.Ending.Err() != nil:
		refusal = Ending
	case ctx.Err() != nil:
		s.Log.Log(ctx, level, "a session was left", words...)
		return 0, ctx.Err()
	case errors.Is(err, runtime.ErrSimulated):
		refusal = Simulated
	case errors.Is(err, runtime.ErrNotAccepted):
		refusal = NotTaken
	case errors.Is(err, runtime.ErrNoExec):
		refusal = NoExec
	case errors.Is(err, runtime.ErrNotUp), errors.Is(err, runtime.ErrUnknown):
		refusal = NotUp
	case errors.Is(err, runtime.ErrUnavailable):
		refusal = Away
	default:
		refusal = Broken
		s.Log.Error("a command could not be run", append(words, "error", err)...)
		return 0, refusal
	}
	s.Log.Info("a session was refused or cut", append(words, "reason", string(refusal))...)
	return 0, refusal
}

// loginShell is the first shell that there is, of those that people like best. What has a terminal gets one that says so to itself.
func loginShell(terminal bool) []string {
	script := `command -v bash >/dev/null 2>&1 && exec bash; exec sh`
	if terminal {
		script = `command -v bash >/dev/null 2>&1 && exec bash -l; exec sh -l`
	}
	return []string{"sh", "-c", script}
}
