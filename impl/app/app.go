// Package app wires the rooms into a running server. It is the one room that knows every other. Embedders import it by way
// of package berth, at the root of the tree.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/limit"
)

// owner is the one user of a server: keys, pods and endpoints are theirs.
const owner = compute.Owner

// Server is a running server.
type Server struct {
	config  Config
	at      *addresses
	leaving *leaving
	failed  chan error
	undo    *undo
	keys    keysMade
	current func() *service // nil: another replica owns the store
	holder  *holder         // nil: servers share the store

	simulates bool // nothing runs in pods
}

// keysMade are what the start made; both are empty if another replica owned the store. They are copies: the service that has them may end long
// before the server, and its memory with it.
type keysMade struct{ first, controls string }

func keysOf(v *service) keysMade {
	k := keysMade{first: v.firstKey}
	if v.controls != nil {
		k.controls = v.controls.key
	}
	return k
}

func newServer(g ground, u *undo) *Server {
	return &Server{config: g.config, at: g.at, leaving: g.leaving, failed: make(chan error, len(g.at.listeners)), undo: u, holder: g.holder, simulates: g.bounds.kind.Can.Simulates}
}

// URL is the base of the REST interface, without a slash at the end.
func (s *Server) URL() string { return s.at.url }

// QueueURL is the base of the queue interface, without a slash at the end.
func (s *Server) QueueURL() string { return s.at.queueURL }

// MetricsURL is where the metrics are served; empty if they are not.
func (s *Server) MetricsURL() string { return s.at.metricsURL }

// PagesURL is where the reference pages are; empty if they are not served.
func (s *Server) PagesURL() string { return s.at.pagesURL }

// ConsoleURL is where the web console is; empty if it is not served.
func (s *Server) ConsoleURL() string { return s.at.consoleURL }

// PodsURL is where HTTP ports of pods are shown, in which {podId} and {port} stand for those; empty if nothing runs in pods.
func (s *Server) PodsURL() string {
	if s.simulates {
		return ""
	}
	return s.at.pods(s.config.Domain)
}

// FirstKey is the key that was made because the data directory had none; empty otherwise. It cannot be had again.
func (s *Server) FirstKey() string { return s.keys.first }

// ControlsKey is the key of the test controls; empty if there are none. It is a new one at each start.
func (s *Server) ControlsKey() string { return s.keys.controls }

// Endpoints are the ids of the declared endpoints by name; none if another replica owns the store.
func (s *Server) Endpoints() map[string]compute.EndpointID {
	if v := s.current(); v != nil {
		return v.declared
	}
	return map[string]compute.EndpointID{}
}

// errNotOwner is the error of what only the owner can do.
var errNotOwner = compute.Errorf(compute.Unavailable, "another replica owns the database")

func (s *Server) keyring() (*control.Keyring, error) {
	if v := s.current(); v != nil {
		return v.keyring, nil
	}
	return nil, errNotOwner
}

// CreateKey makes a key and gives its token, which cannot be had again.
func (s *Server) CreateKey(ctx context.Context, n control.NewKey) (compute.KeyID, string, error) {
	keyring, err := s.keyring()
	if err != nil {
		return "", "", err
	}
	key, token, err := keyring.Create(ctx, n)
	return key.ID, token, err
}

// KeepKey has there be a key of the token with every scope, whoever owns the store.
func (s *Server) KeepKey(ctx context.Context, token string) error {
	return s.withKeys(ctx, func(keys *control.Keyring) error {
		return keys.Keep(ctx, NewKey(firstKeyName, []string{string(compute.ScopeAll)}, false, 0), token)
	})
}

// ForgetKey deletes the key of a token, if there is one, whoever owns the store.
func (s *Server) ForgetKey(ctx context.Context, token string) error {
	return s.withKeys(ctx, func(keys *control.Keyring) error { return keys.Forget(ctx, token) })
}

// withKeys has do change keys: those of the server, or where another one owns the store, beside that one.
func (s *Server) withKeys(ctx context.Context, do func(*control.Keyring) error) error {
	if own, err := s.keyring(); err == nil {
		return do(own)
	}
	keys, err := OpenKeys(ctx, s.config.Data, s.config.Store)
	if err != nil {
		return err
	}
	return errors.Join(do(keys.Keyring), keys.Close())
}

// ReplaceWorkers has the workers of a declared endpoint replaced, each as soon as it holds no job: their program has changed.
func (s *Server) ReplaceWorkers(name string) {
	if v := s.current(); v != nil {
		v.workers.Replace(v.declared[name])
	}
}

// Failed receives when a listener fails.
func (s *Server) Failed() <-chan error { return s.failed }

// serve answers at the addresses.
func (s *Server) serve(all, metrics http.Handler, connections *limit.Connections, u *undo) {
	var servers []*http.Server
	for i := range s.at.listeners {
		handler := all
		switch {
		case s.at.ofMetrics(i):
			handler = metrics
		case i > 0 && i == s.at.challenges:
			handler = s.at.challengeHandler()
		}
		server := connections.Server(handler)
		server.ErrorLog = slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)
		servers = append(servers, server)

		go func() {
			if err := server.Serve(s.at.bounded(i, connections)); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- err
			}
		}()
	}

	s.askForCertificates(u)
	u.push("requests", func() error { return shutDown(servers, s.config.Drain) })
}

// shutDown closes the addresses, all at once, lets requests end for the time that they may take, then cuts them off.
func shutDown(servers []*http.Server, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	errs := make([]error, len(servers))
	var ending sync.WaitGroup
	for i, server := range servers {
		ending.Go(func() {
			if err := server.Shutdown(ctx); err != nil {
				errs[i] = errors.Join(err, server.Close())
			}
		})
	}
	ending.Wait()
	return errors.Join(errs...)
}

// Close drains: workers finish or give back what they hold, held requests are answered with what is known, and after the
// drain time what is left is cut off. Then the pods are ended whose end was acknowledged. Everything acknowledged is on disk already.
// One of several servers gives the store away at once, and its notice afterwards.
func (s *Server) Close() error {
	notice := s.config.DrainNotice
	if s.config.Store != "" {
		notice = 0
	}
	s.leaving.giveNotice(notice)
	if s.holder != nil {
		s.holder.close()
	}
	return s.undo.all(false)
}
