package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// forgotten is how long a running server may take to know that a key was revoked beside it.
const forgotten = 2 * time.Second

// key is one that berth keys has printed.
type key struct {
	mu       sync.Mutex
	id       string
	token    string
	revoking bool      // it was asked for
	revoked  time.Time // it was acknowledged; zero: it was not
}

// keys are those that were made by the command line, beside a server that comes and goes.
type keys struct {
	*service
	*ledger
	settings // of the servers

	all  sync.Mutex
	made []*key
}

// clients works until ctx ends.
func (s *keys) clients(ctx context.Context, seed uint64) {
	var both sync.WaitGroup
	for actor, work := range []struct {
		pause int // milliseconds, on the average
		act   func(context.Context, *rand.Rand)
	}{{1200, s.create}, {2500, s.revoke}, {100, s.use}} {
		r := source(seed, 800+uint64(actor))
		both.Go(func() {
			for ctx.Err() == nil {
				work.act(context.WithoutCancel(ctx), r)
				pause(ctx, time.Duration(r.IntN(2*work.pause))*time.Millisecond)
			}
		})
	}

	both.Wait()
}

// command runs berth keys. An error leaves open what was done.
func (s *keys) command(args ...string) ([]byte, error) {
	return exec.Command(s.berth, append([]string{"keys", "--data", s.data, "--store", s.store, "--json"}, args...)...).Output()
}

func (s *keys) create(context.Context, *rand.Rand) {
	out, err := s.command("create", "--name", "crash", "--scope", "rest:read")
	var made struct{ ID, Key string }
	if err != nil || json.Unmarshal(out, &made) != nil || made.Key == "" {
		return
	}
	s.all.Lock()
	defer s.all.Unlock()
	s.made = append(s.made, &key{id: made.ID, token: made.Key})
}

func (s *keys) pick(r *rand.Rand) *key {
	s.all.Lock()
	defer s.all.Unlock()
	if len(s.made) == 0 {
		return nil
	}
	return s.made[r.IntN(len(s.made))]
}

func (s *keys) revoke(_ context.Context, r *rand.Rand) {
	k := s.pick(r)
	if k == nil || r.IntN(2) == 0 {
		return
	}
	k.mu.Lock()
	k.revoking = true
	k.mu.Unlock()

	if _, err := s.command("revoke", k.id); err == nil {
		k.mu.Lock()
		if k.revoked.IsZero() {
			k.revoked = time.Now()
		}
		k.mu.Unlock()
	}
}

func (s *keys) use(ctx context.Context, r *rand.Rand) {
	if k := s.pick(r); k != nil {
		s.try(ctx, k)
	}
}

// try makes a request with the key and judges how it is answered.
func (s *keys) try(ctx context.Context, k *key) {
	asked := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	status, answer := s.rest(ctx, k.token, "GET", "/v2/templates", "")
	switch {
	case status == 0:
	case status == http.StatusOK && (k.revoked.IsZero() || asked.Sub(k.revoked) < forgotten):
	case status == http.StatusUnauthorized && k.revoking:
	default:
		s.violated("key %s (to be revoked: %t, revoked: %t): %d %s", k.id, k.revoking, !k.revoked.IsZero(), status, answer)
	}
}

// verify tries every key.
func (s *keys) verify(ctx context.Context) error {
	pause(ctx, forgotten)
	for _, k := range s.made {
		s.try(ctx, k)
	}
	return s.err()
}

func (s *keys) summary() string {
	revoked := 0
	for _, k := range s.made {
		if !k.revoked.IsZero() {
			revoked++
		}
	}
	return fmt.Sprintf("%d keys acknowledged, %d of them revoked", len(s.made), revoked)
}
