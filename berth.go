// Package berth runs a server inside a Go program, for tests of what talks to it: it has the whole REST, queue and GraphQL
// interface, a clock that the test sets, a journal of the requests that came, faults that the test scripts, and endpoints whose
// handlers are Go functions. A server takes a few milliseconds to start, listens on an address of its own and shares nothing with
// others, so that each test may have one.
//
//	server, err := berth.Start(ctx, berth.Options{})
//	...
//	defer server.Close()
//
// In tests, berthtest.Start is shorter. Programs in other languages start the command, berth serve --test-controls --json;
// examples/ shows how.
package berth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	nethttp "net/http"
	"os"
	"reflect"
	"sync"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/setting"
)

// The runtimes of Options.Runtime.
const (
	RuntimeSim        = "sim"        // nothing is run, and time can be set
	RuntimeProcess    = "process"    // processes of this machine
	RuntimeDocker     = "docker"     // containers of a Docker Engine
	RuntimeKubernetes = "kubernetes" // Pods of a Kubernetes cluster
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	app       *app.Server
	key       string
	endpoints map[string]string // their ids at the start
	client    *nethttp.Client
	cleanUp   []func() error // what Close does, the last one first

	closing  sync.Once
	closeErr error
}

// Start starts a server, which is ready when Start returns. It serves until Close, also after ctx has ended. The error names
// the option that makes no sense.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	s := &Server{endpoints: map[string]string{}}
	started := false
	defer func() {
		if !started { // also where something panics
			err = errors.Join(err, s.Close())
		}
	}()

	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.TLSCert != "" && o.QueueListen == "" {
		o.QueueListen = "127.0.0.1:0" // of workers in this program and on this machine, which need not trust the certificate
	}
	config, err := app.NewConfig(o.values())
	if err != nil {
		return nil, err
	}

	config.Data, config.Log, config.PrivateWebhooks, config.GraphQL.Introspection = o.Dir, o.Log, true, true
	config.TestControls = app.Simulates(o.Runtime) // what really runs lives in real time
	for _, e := range o.Endpoints {
		if err := e.check(); err != nil {
			return nil, err
		}
		config.Endpoints = append(config.Endpoints, app.Endpoint{ID: compute.EndpointID(e.ID), Name: e.Name, Command: e.Command, WorkersMax: e.Workers})
	}

	if o.Dir == "" {
		config.Ephemeral = true
		if config.Data, err = os.MkdirTemp("", "berth-"); err != nil {
			return nil, err
		}
		s.later(func() error { return os.RemoveAll(config.Data) })
	}

	chosen := config.FirstKey == ""
	if chosen { // not one that the server makes: a state that is loaded has other keys, and this one again
		ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
		config.FirstKey = compute.NewToken(ids, ids.Key())
	}
	s.key = config.FirstKey
	lasts := config.Store == "" && !app.HoldsDatabase(config.Data) // the first key of a directory does
	if s.app, err = app.Start(ctx, config); err != nil {
		return nil, err
	}
	s.later(s.app.Close)
	if chosen && !lasts {
		s.later(func() error { return s.app.ForgetKey(context.Background(), s.key) })
	}
	if chosen && config.Store != "" { // another server may own the store
		if err = s.app.KeepKey(ctx, s.key); err != nil {
			return nil, err
		}
	}
	if s.client, err = s.newClient(); err != nil {
		return nil, err
	}

	for name, id := range s.app.Endpoints() {
		s.endpoints[name] = string(id)
	}

	for _, e := range o.Endpoints {
		if _, known := s.endpoints[e.Name]; !known {
			return nil, fmt.Errorf("endpoint %s: another server owns the database of Store: servers that share one have no Endpoints; create them over REST", e.Name)
		}
		if e.inProgram() {
			s.work(e, o.Log)
		}
	}

	started = true
	return s, nil
}

// values gives what the options set, as settings.
func (o Options) values() setting.Values {
	values, options := setting.Values{}, reflect.ValueOf(o)
	for _, s := range app.Settings() {
		if s.Option == "" {
			continue
		}
		switch field := options.FieldByName(s.Option); {
		case field.Kind() == reflect.Slice:
			values[s.Name] = field.Interface().([]string)
		case field.Kind() == reflect.Bool || !field.IsZero():
			values[s.Name] = []string{fmt.Sprint(field.Interface())}
		case s.OptionDefault != "":
			values[s.Name] = []string{s.OptionDefault}
		}
	}

	return values
}

func (s *Server) later(f func() error) { s.cleanUp = append(s.cleanUp, f) }

// URL is the base of the REST interface, without a slash at the end.
func (s *Server) URL() string { return s.app.URL() }

// QueueURL is the base of the queue, without a slash at the end: jobs go to QueueURL() + "/v2/<endpoint id>/run".
func (s *Server) QueueURL() string { return s.app.QueueURL() }

// GraphQLURL is the address of the GraphQL interface.
func (s *Server) GraphQLURL() string { return s.app.URL() + "/graphql" }

// ControlsURL is the base of the test controls, which Clock, Journal, Faults and Close make mostly needless. Empty
// unless the runtime is RuntimeSim.
func (s *Server) ControlsURL() string {
	if s.ControlsKey() == "" {
		return ""
	}
	return s.app.URL() + "/_berth"
}

// ControlsKey is the key of the test controls; empty unless the runtime is RuntimeSim.
func (s *Server) ControlsKey() string { return s.app.ControlsKey() }

// Key is a key with every scope: that of the setting first-key, the first one of a new directory, or one for as long as the server runs.
func (s *Server) Key() string { return s.key }

// NewKey makes a further key: for everything (all), or for one or more of admin, rest:read, rest:write, graphql:read, graphql:write,
// queue:<endpoint id or *>:invoke, queue:<endpoint id or *>:work and pod:<pod id>.
func (s *Server) NewKey(ctx context.Context, scopes ...string) (string, error) {
	return s.NewUserKey(ctx, string(compute.Owner), scopes...)
}

// NewUserKey is NewKey for a user, who is made if there is none of that name: as a member, or as an admin for a key with the scope admin. The error is
// also that the role of the user does not allow a scope.
func (s *Server) NewUserKey(ctx context.Context, user string, scopes ...string) (string, error) {
	if len(scopes) == 0 {
		return "", errors.New("a key needs a scope")
	}
	for _, scope := range scopes {
		if err := app.CheckScope(scope); err != nil {
			return "", err
		}
	}
	n := app.NewKey("of a test", scopes, false, 0)
	n.UserID = compute.UserID(user)
	_, token, err := s.app.CreateKey(ctx, n)
	return token, err
}

// Endpoint is the id of the endpoint of that name in Options.Endpoints; after LoadState it may be another one. It panics if there is none: that is a
// mistake in the program.
func (s *Server) Endpoint(name string) string {
	if id, ok := s.app.Endpoints()[name]; ok {
		return string(id)
	}
	id, ok := s.endpoints[name] // no other server of a store gives it another one
	if !ok {
		panic(fmt.Sprintf("berth: no endpoint %q was declared", name))
	}
	return id
}

// Close ends the server and all that belongs to it: the contexts of handlers end, requests are answered, processes are
// killed, and a temporary directory is removed. Closing again does nothing and gives the same error.
func (s *Server) Close() error {
	s.closing.Do(func() {
		for i := len(s.cleanUp) - 1; i >= 0; i-- {
			s.closeErr = errors.Join(s.closeErr, s.cleanUp[i]())
		}
	})
	return s.closeErr
}
