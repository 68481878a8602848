//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

const (
	replicas = 3
	// taken is how long the first take may wait after the owner was killed. A lease of six seconds has to end; this is for slow machines.
	taken = time.Minute
	// notice is how long a replica that was asked to end says so before it stops to listen. On a slow machine it may take long until that is seen.
	notice = 5 * time.Second
)

// group are replicas under load.
type group struct {
	*spread
	owners *postgres.Owners
	load   *load
	things *things
	keys   *keys
	random *rand.Rand
	first  []time.Duration // from each kill or stop of an owner to the first take after it
}

// disturbReplicas does to replicas what is asked for. It has a PostgreSQL of its own.
func disturbReplicas(berth string, what several) error {
	cluster, err := pgtest.Start(context.Background())
	if errors.Is(err, pgtest.ErrMissing) {
		fmt.Println("SKIPPED:", err)
		return nil
	}
	if err != nil {
		return err
	}

	for _, trial := range []struct {
		name     string
		times    int
		patience time.Duration
		disturb  func(*group) error
	}{
		{"kills of the owner", what.kills, 15 * time.Second, (*group).kill},
		{"stops of the owner", what.stops, 5 * time.Second, func(g *group) error { return g.stop(what.stop) }},
		{"rolling restarts", what.rolls, longest, func(g *group) error { return g.roll(berth, what.other) }},
	} {
		if trial.times == 0 || err != nil {
			continue
		}
		err = func() error {
			tmp, err := os.MkdirTemp("", "berth-crash-")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(tmp) }()
			url, err := cluster.Schema(context.Background())
			if err != nil {
				return err
			}

			g, err := startReplicas(berth, tmp, url, trial.patience, what.seed)
			if err != nil {
				return err
			}
			g.polite = trial.patience == longest
			return g.run(trial.name, trial.times, trial.disturb, what.seed)
		}()
	}

	return errors.Join(err, cluster.Stop())
}

// startReplicas starts replicas that have a new schema in common.
func startReplicas(berth, dir, url string, patience time.Duration, seed uint64) (g *group, err error) {
	g = &group{spread: &spread{ledger: newLedger(), patience: patience}, random: source(seed, 0)}
	defer func() {
		if err != nil {
			g.end()
		}
	}()

	for n := range replicas {
		more := []string{"--drain-notice", notice.String()}
		if n > 0 { // all have the key of the first one
			more = append(more, "--secret-key", filepath.Join(g.each[0].data, "secret.key"))
		}
		r := newReplica(settings{
			berth: berth, data: filepath.Join(dir, fmt.Sprintf("data%d", n)), listen: lastingAddress(), runtime: "sim", store: url,
			endpoints: managed("berth"), more: more,
		})
		for i, e := range r.endpoints { // one program, however many take turns: they are declared alike
			r.endpoints[i] = strings.ReplaceAll(e, "=berth worker", "="+berth+" worker")
		}
		g.each = append(g.each, r)
		if r.server, err = r.start(); err != nil {
			return nil, err
		}
	}

	g.owners, err = postgres.OpenOwners(context.Background(), url)
	return g, err
}

// end kills what still runs.
func (g *group) end() {
	for _, r := range g.each {
		if r.server != nil {
			_ = continueProcess(r.server.cmd.Process)
			r.server.kill()
		}
	}
	if g.owners != nil {
		_ = g.owners.Close()
	}
}

// run puts load on the replicas, disturbs them that often and holds them to what they promised.
func (g *group) run(name string, times int, disturb func(*group) error, seed uint64) (err error) {
	defer func() {
		g.end()
		for _, r := range g.each {
			if err != nil {
				err = fmt.Errorf("%w\nthe log of %s ends:\n%s", err, r.url(), log(r.data))
			}
		}
	}()

	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}
	defer receiver.close()

	at := g.each[0].server.service()
	at.spread = g.spread
	g.things, g.keys = newThings(at, g.ledger), &keys{service: at, ledger: g.ledger, settings: g.each[0].settings}
	g.load = &load{service: at, ledger: g.ledger, receiver: receiver, taken: make(chan struct{})}
	g.load.room.Store(waiting)

	ctx, stop := context.WithCancel(context.Background())
	working, stopWork := context.WithCancel(context.Background())
	g.watch(working)
	var clients, workers sync.WaitGroup
	clients.Go(func() { g.things.clients(ctx, seed) })
	clients.Go(func() { g.keys.clients(ctx, seed) })
	clients.Go(func() { g.load.clients(ctx, seed, g.load.everybody()) })
	clients.Go(func() { g.load.refill(ctx) })
	workers.Go(func() { g.load.play(working, seed) })

	defer func() {
		stop()
		stopWork()
		clients.Wait()
		workers.Wait()
	}()

	for round := range times {
		select {
		case <-g.failed:
			return fmt.Errorf("round %d: %w", round+1, g.err())
		case <-time.After(moment(g.random)):
		}

		if err := disturb(g); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		g.load.room.Store(int64(waiting - g.load.count(ctx)))
		if (round+1)%10 == 0 {
			fmt.Printf("%s: %d; %d jobs; %s\n", name, round+1, len(g.all()), g.things.summary())
		}
	}

	stop()
	clients.Wait()
	return g.finish(working, name, times)
}

// refill has clients submit all the time, at about the pace of the workers: when an owner has gone there is something to take.
func (l *load) refill(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, 200*time.Millisecond) {
		if l.room.Load() <= 0 {
			l.room.Store(15)
		}
	}
}

// finish waits until all has come to what was promised, ends the replicas and sees that no process is left.
func (g *group) finish(working context.Context, name string, times int) error {
	summary := g.things.summary()
	for _, step := range []func(context.Context) error{g.things.verify, g.keys.verify, g.load.verify, g.things.removeAll} {
		if err := step(working); err != nil {
			return err
		}
	}
	for _, r := range g.each {
		if err := r.server.terminate(); err != nil {
			return err
		}
		if err := noneLeft(r.data); err != nil {
			return err
		}
	}

	fmt.Printf("%s: %d; %s; %s, %s\n", name, times, g.load.summary(), summary, g.keys.summary())
	if len(g.first) > 0 {
		slices.Sort(g.first)
		fmt.Printf("%s: the first take after %s in the median, %s at most\n", name, g.first[len(g.first)/2].Round(10*time.Millisecond), g.first[len(g.first)-1].Round(10*time.Millisecond))
	}
	if g.polite {
		fmt.Printf("%s: %d requests were asked to try again, %d times nobody was ready; the longest took %s\n", name, g.again.Load(), g.none.Load(), time.Duration(g.most.Load()).Round(10*time.Millisecond))
	}

	return nil
}

// owner gives the replica that owns the database, and since which epoch.
func (g *group) owner() (*replica, int64, error) {
	for deadline := time.Now().Add(taken); ; time.Sleep(20 * time.Millisecond) {
		o, err := g.owners.See(context.Background())
		if err != nil {
			return nil, 0, err
		}
		for _, r := range g.each {
			if r.url() == o.Address && o.Left > 0 {
				return r, o.Epoch, nil
			}
		}
		if time.Now().After(deadline) {
			return nil, 0, errors.New("nobody owns the database")
		}
	}
}

// awaitTake waits for the first take from an owner after the one of that epoch, who was disturbed at a moment.
func (g *group) awaitTake(epoch int64, since time.Time) error {
	late := time.After(taken)
	for {
		o, err := g.owners.See(context.Background())
		if err != nil {
			return err
		}
		if o.Epoch > epoch {
			break
		}
		select {
		case <-late:
			return fmt.Errorf("nobody has become the owner within %s", taken)
		case <-time.After(20 * time.Millisecond):
		}
	}

	select {
	case <-g.load.taken:
	case <-g.failed:
		return g.err()
	case <-late:
		return fmt.Errorf("no job was taken within %s", taken)
	}

	g.first = append(g.first, time.Since(since))
	return nil
}

// kill kills the owner, now and then another one with it, and starts them again: after the first take or, now and then, at once.
func (g *group) kill() error {
	owner, epoch, err := g.owner()
	if err != nil {
		return err
	}
	killed := []*replica{owner}
	if other := g.each[g.random.IntN(replicas)]; other != owner && g.random.IntN(3) == 0 {
		killed = append(killed, other)
	}
	since := time.Now()
	for _, r := range killed {
		r.server.kill()
	}

	start := func() (err error) {
		for _, r := range killed {
			if err == nil {
				r.server, err = r.start()
			}
		}
		return err
	}

	if g.random.IntN(4) == 0 {
		started := make(chan error, 1)
		go func() { started <- start() }()
		return errors.Join(g.awaitTake(epoch, since), <-started)
	}
	if err := g.awaitTake(epoch, since); err != nil {
		return err
	}
	return start()
}

// stop stops the owner's process, for longer than its lease lasts, and lets it go on.
func (g *group) stop(long time.Duration) error {
	owner, epoch, err := g.owner()
	if err != nil {
		return err
	}
	since := time.Now()
	if err := stopProcess(owner.server.cmd.Process); err != nil {
		return err
	}
	if err := g.awaitTake(epoch, since); err != nil {
		return err
	}

	time.Sleep(time.Until(since.Add(long)))
	if err := continueProcess(owner.server.cmd.Process); err != nil {
		return err
	}
	if err := g.awaitReady(owner); err != nil {
		return err
	}
	return awaitProcessesFor(ending, owner.data, func(process) string { return "its server does not own the database any more" })
}

// roll asks one replica after the other to end, and starts each again.
func (g *group) roll(berth, other string) error {
	for _, r := range g.each {
		if err := g.awaitReady(g.each...); err != nil {
			return err
		}
		select {
		case <-g.failed:
			return g.err()
		case <-time.After(moment(g.random)):
		}

		if err := r.server.terminate(); err != nil {
			return err
		}
		if err := noneLeft(r.data); err != nil {
			return err
		}
		if other != "" {
			r.berth = map[bool]string{true: other, false: berth}[r.berth == berth]
		}

		var err error
		if r.server, err = r.start(); err != nil {
			return err
		}
	}
	return nil
}

// awaitReady waits until replicas are ready.
func (g *group) awaitReady(all ...*replica) error {
	for deadline := time.Now().Add(ready); ; time.Sleep(20 * time.Millisecond) {
		i := slices.IndexFunc(all, func(r *replica) bool { return !r.ready.Load() })
		if i < 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the replica at %s is not ready", all[i].url())
		}
	}
}
