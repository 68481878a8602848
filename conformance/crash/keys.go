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

const (
	// forgotten is how long a running server may take to know that a key was revoked beside it, on a machine that is not slow.
	forgotten = 2 * time.Second
	// stillKnown is for how long it may take the key after that while it answers at once, and stillKnownSlow, while it does not.
	stillKnown     = 10 * time.Second
	stillKnownSlow = time.Minute
	atOnce         = 500 * time.Millisecond
)

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

	all     sync.Mutex
	made    []*key
	longest time.Duration // that a key was taken after it was revoked
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
	known := status == http.StatusOK && !k.revoked.IsZero()
	late := known && asked.Sub(k.revoked) >= forgotten
	if known {
		s.known(asked.Sub(k.revoked))
	}
	if late {
		status, answer = s.untilForgotten(ctx, k)
	}
	switch {
	case status == 0:
	case status == http.StatusOK && !late:
	case status == http.StatusUnauthorized && k.revoking:
	default:
		s.violated("key %s (to be revoked: %t, revoked: %t): %d %s", k.id, k.revoking, !k.revoked.IsZero(), status, answer)
	}
}

// untilForgotten asks with a key that was revoked until it is refused, or has been taken for too long, and gives the last answer.
func (s *keys) untilForgotten(ctx context.Context, k *key) (status int, answer []byte) {
	begun := time.Now()
	var prompt time.Duration // while the server answered at once
	for last := begun; prompt < stillKnown && last.Sub(begun) < stillKnownSlow; {
		pause(ctx, 100*time.Millisecond)
		asked := time.Now()
		if status, answer = s.rest(ctx, k.token, "GET", "/v2/templates", ""); status != http.StatusOK {
			break
		}
		s.known(asked.Sub(k.revoked))
		now := time.Now()
		if since := now.Sub(last); since < atOnce {
			prompt += since
		}
		last = now
	}
	return status, answer
}

// known notes that a key was taken so long after it was revoked.
func (s *keys) known(after time.Duration) {
	s.all.Lock()
	defer s.all.Unlock()
	s.longest = max(s.longest, after)
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
	return fmt.Sprintf("%d keys acknowledged, %d of them revoked, and known for %s after that at most", len(s.made), revoked, s.longest.Round(10*time.Millisecond))
}
