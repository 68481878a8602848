package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/berthdev/berth/conformance/spread"
	"github.com/berthdev/berth/impl/app"
)

// Own starts berth's own server in the directory, with everything that the rules can use, and gives it as a target; beside
// it one that posts to no private address.
func Own(ctx context.Context, dir string) (t Target, stop func() error, err error) {
	t, stopOpen, err := start(ctx, app.Config{Data: filepath.Join(dir, "open"), PrivateWebhooks: true})
	if err != nil {
		return t, nil, err
	}
	guarded, stopGuarded, err := start(ctx, app.Config{Data: filepath.Join(dir, "guarded")})
	if err != nil {
		return t, nil, errors.Join(err, stopOpen())
	}
	t.Guarded = &guarded
	return t, func() error { return errors.Join(stopOpen(), stopGuarded()) }, nil
}

// OwnSeveral starts so many servers as Own starts one, in directories below this one, and gives them as targets.
func OwnSeveral(ctx context.Context, dir string, servers int) (all []Target, stop func() error, err error) {
	all = make([]Target, servers)
	stops, errs := make([]func() error, servers), make([]error, servers)
	var group sync.WaitGroup
	for n := range servers {
		group.Go(func() { all[n], stops[n], errs[n] = Own(ctx, filepath.Join(dir, strconv.Itoa(n))) })
	}

	group.Wait()
	stop = func() (err error) {
		for _, one := range stops {
			if one != nil {
				err = errors.Join(err, one())
			}
		}
		return err
	}
	if err = errors.Join(errs...); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return all, stop, nil
}

// OwnReplicas is Own with so many replicas of each server, over the databases that the two URLs lead to: each request goes to any of them.
func OwnReplicas(ctx context.Context, dir string, replicas int, open, guarded string) (t Target, stop func() error, err error) {
	t, stopOpen, err := startReplicas(ctx, filepath.Join(dir, "open"), replicas, open, true)
	if err != nil {
		return t, nil, err
	}
	beside, stopGuarded, err := startReplicas(ctx, filepath.Join(dir, "guarded"), replicas, guarded, false)
	if err != nil {
		return t, nil, errors.Join(err, stopOpen())
	}
	t.Guarded = &beside
	return t, func() error { return errors.Join(stopOpen(), stopGuarded()) }, nil
}

// startReplicas starts replicas, and before them what spreads requests.
func startReplicas(ctx context.Context, dir string, replicas int, store string, private bool) (t Target, stop func() error, err error) {
	var stops []func() error
	stop = func() (err error) {
		for _, one := range slices.Backward(stops) {
			err = errors.Join(err, one())
		}
		return err
	}

	front, err := spread.Listen("127.0.0.1:0")
	if err != nil {
		return t, nil, err
	}
	stops = append(stops, front.Close)
	for n := range replicas {
		c := app.Config{Data: filepath.Join(dir, strconv.Itoa(n)), Store: store, PublicURL: front.URL(), PrivateWebhooks: private}
		if n > 0 { // all have the key of the first one
			c.SecretKey = filepath.Join(dir, "0", "secret.key")
		}
		one, stopOne, err := start(ctx, c)
		if err != nil {
			return t, nil, errors.Join(err, stop())
		}

		stops = append(stops, stopOne)
		if n == 0 {
			t = one
		}
		front.Add(one.URL)
	}

	t.URL, t.QueueURL = front.URL(), front.URL()
	return t, stop, nil
}

// start starts a server with everything that the rules can use.
func start(ctx context.Context, c app.Config) (t Target, stop func() error, err error) {
	c.Ephemeral = c.Store == "" // the directory is thrown away: whether a write waits for the disk is not seen over HTTP
	c.Listen, c.TestControls, c.Docs, c.GraphQL.Playground = "127.0.0.1:0", true, true, true
	c.StallTimeout = 3 * time.Second // the rules wait for it
	c.Endpoints = []app.Endpoint{{Name: "rules"}, {Name: "managed", Command: []string{"sleep", "3600"}}}
	c.Seed = c.Data + ".seed.yaml"
	if err := errors.Join(os.MkdirAll(filepath.Dir(c.Seed), 0o700), os.WriteFile(c.Seed, ownSeed, 0o600)); err != nil {
		return t, nil, err
	}
	s, err := app.Start(ctx, c)
	if err != nil {
		return t, nil, err
	}
	return Target{
		URL: s.URL(), QueueURL: s.QueueURL(), Key: s.FirstKey(), Endpoint: string(s.Endpoints()["rules"]),
		Managed: string(s.Endpoints()["managed"]), Declared: string(s.Endpoints()["managed"]), ControlsKey: s.ControlsKey(),
	}, s.Close, nil
}
