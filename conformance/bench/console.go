package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// console measures submissions while a client follows every change, as each open console does, beside the same server without one.
func (b *bench) console() error {
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()

	b.heading()
	return row{
		name: "/run while a client follows what changes, 64 connections", reference: b.submissions(berth), measured: func() (r reading, err error) {
			follower, err := berth.follow()
			if err != nil {
				return reading{}, err
			}
			r, err = b.submissions(berth)()
			return r, errors.Join(err, follower.stop())
		}, unit: "requests/s", asked: atLeast(0.95),
	}.print(b)
}

// follower reads the stream of changes of a server.
type follower struct {
	cancel context.CancelFunc
	ended  chan struct{}
	lines  atomic.Int64
}

// follow begins to read, and returns once the stream has begun.
func (s *server) follow() (*follower, error) {
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.ready.URL+"/_berth/events", nil)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the stream of changes: %s", res.Status)
	}
	if err != nil {
		cancel()
		return nil, err
	}

	f := &follower{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			f.lines.Add(1)
		}
	}()
	return f, nil
}

// stop ends the stream. It fails if nothing had come, since nothing was measured then.
func (f *follower) stop() error {
	for began := time.Now(); f.lines.Load() < 10; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			f.cancel()
			return errors.New("no changes were told")
		}
	}
	f.cancel()
	<-f.ended
	return nil
}
