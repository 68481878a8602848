package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	ending = 3 * time.Minute // for all jobs to end after the last kill
	arrive = 3 * time.Minute // for the last webhooks after that
)

// managed are the endpoints that a server declares: one whose workers this program plays, two whose workers the server starts, and
// two commands that pods are.
func managed(berth string) []string {
	return []string{
		own + "=", echoing + "=" + berth + " worker --handler echo --concurrency 8", streaming + "=" + berth + " worker --handler stream --concurrency 4",
		"stays=sleep", `daemon=sh -c "setsid sleep 1000 & exec sleep 1000"`,
	}
}

// trial is a server under load that is killed again and again.
type trial struct {
	settings
	server *server
	load   *load // nil: no jobs
	things *things
	keys   *keys
	seed   uint64
	terms  int // how often it was asked to end
}

// killServer puts load on a server, kills it that often, starts it again, and holds it to what it promised.
func killServer(c settings, rounds int, seed uint64, jobs bool) error {
	c.endpoints = managed(c.berth)
	t := &trial{settings: c, seed: seed}
	var err error
	if t.server, err = t.start(); err != nil {
		return err
	}

	defer func() {
		if t.server != nil { // it did not start again
			t.server.kill()
		}
	}()

	t.listen = t.server.URL[len("http://"):]
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}

	defer receiver.close()
	ledger, at := newLedger(), t.server.service()
	t.things, t.keys = newThings(at, ledger), &keys{service: at, ledger: ledger, settings: c}
	if jobs {
		t.load = &load{service: at, ledger: ledger, receiver: receiver}
		t.load.room.Store(waiting)
	}

	ctx, stop := context.WithCancel(context.Background())
	working, stopWork := context.WithCancel(context.Background())
	var clients, workers sync.WaitGroup
	clients.Go(func() { t.things.clients(ctx, seed) })
	clients.Go(func() { t.keys.clients(ctx, seed) })
	if jobs {
		clients.Go(func() { t.load.clients(ctx, seed, t.load.everybody()) })
		workers.Go(func() { t.load.play(working, seed) })
	}

	defer func() {
		stop()
		stopWork()
		clients.Wait()
		workers.Wait()
	}()

	if err := t.rounds(ctx, rounds, ledger); err != nil {
		return err
	}
	stop()
	clients.Wait()
	return t.end(working, rounds)
}

// rounds kills the server that often.
func (t *trial) rounds(ctx context.Context, rounds int, ledger *ledger) error {
	random := source(t.seed, 0)
	for round := range rounds {
		select {
		case <-ledger.failed:
			return fmt.Errorf("round %d: %w", round+1, ledger.err())
		case <-time.After(moment(random)):
		}

		if err := t.round(random); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		if t.load != nil {
			t.load.room.Store(int64(waiting - t.load.count(ctx)))
		}
		if (round+1)%20 == 0 {
			fmt.Printf("%s: killed %d times; %d jobs; %s\n", t.runtime, round+1, len(ledger.all()), t.things.summary())
		}
	}

	return nil
}

// round kills the server, now and then once more before it is ready, or asks the next one to end, and looks for what each left.
func (t *trial) round(random *rand.Rand) (err error) {
	t.server.kill()
	if random.IntN(5) == 0 {
		if t.server, _, err = t.launch(); err != nil {
			return err
		}
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		t.server.kill()
	}

	if t.server, err = t.start(); err != nil {
		return err
	}
	if err := noneOfBefore(t.data, t.server); err != nil {
		return err
	}
	if random.IntN(10) > 0 {
		return nil
	}

	time.Sleep(moment(random))
	t.terms++
	if err := t.server.terminate(); err != nil {
		return err
	}
	if err := noneLeft(t.data); err != nil {
		return err
	}

	t.server, err = t.start()
	return err
}

// end waits until all has come to what was promised, removes everything, and sees that nothing is left.
func (t *trial) end(working context.Context, rounds int) error {
	if err := t.things.verify(working); err != nil {
		return err
	}
	if err := t.things.asAsked(working, t.data, t.runtime); err != nil {
		return err
	}
	if err := t.keys.verify(working); err != nil {
		return err
	}

	summary := t.things.summary()
	if t.load != nil {
		if err := t.load.verify(working); err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", t.runtime, t.load.summary())
	}

	if err := t.things.removeAll(working); err != nil {
		return err
	}
	if err := t.server.terminate(); err != nil { // in the next moment
		return err
	}
	if err := noneLeft(t.data); err != nil {
		return err
	}

	var err error
	if t.server, err = t.start(); err != nil {
		return err
	}
	if err := t.things.asAsked(working, t.data, t.runtime); err != nil {
		return err
	}

	fmt.Printf("%s: %d kills, %d ends, %s, %s\n", t.runtime, rounds, t.terms, summary, t.keys.summary())
	return nil
}

// moment is how long the server lives: mostly long enough to be busy, now and then hardly longer than its start.
func moment(r *rand.Rand) time.Duration {
	if r.IntN(5) == 0 {
		return time.Duration(r.IntN(60)) * time.Millisecond
	}
	return time.Duration(300+r.IntN(1200)) * time.Millisecond
}

// count looks at every job that is not known to have ended and gives how many still have not.
func (l *load) count(ctx context.Context) int {
	return l.lookAt(ctx, func(j *job) bool { return j.final == nil && !j.gone })
}

// lookAt looks at the jobs that the condition picks and gives how many it picks after that.
func (l *load) lookAt(ctx context.Context, condition func(*job) bool) (left int) {
	picked := func(j *job) bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return condition(j)
	}

	jobs := make(chan *job)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for j := range jobs {
				l.look(ctx, j)
			}
		})
	}

	for _, j := range l.all() {
		if picked(j) {
			jobs <- j
		}
	}

	close(jobs)
	all.Wait()
	for _, j := range l.all() {
		if picked(j) {
			left++
		}
	}

	return left
}

// verify waits until every job has ended and every webhook has come, and looks at every job once more.
func (l *load) verify(ctx context.Context) error {
	for deadline := time.Now().Add(ending); ; pause(ctx, 500*time.Millisecond) {
		left := l.count(ctx)
		if err := l.err(); err != nil {
			return err
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d jobs have not ended: %s", left, len(l.all()), l.unended(ctx))
		}
	}

	l.lookAt(ctx, func(j *job) bool { return !j.gone })
	if err := l.err(); err != nil {
		return err
	}

	for deadline := time.Now().Add(arrive); ; pause(ctx, 200*time.Millisecond) {
		err := l.missing()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// unended gives the document of a job that has not ended.
func (l *load) unended(ctx context.Context) []byte {
	for _, j := range l.all() {
		j.mu.Lock()
		unended := j.final == nil && !j.gone
		j.mu.Unlock()
		if unended {
			_, answer := l.call(ctx, "GET", j.endpoint, "status/"+j.id, "")
			return answer
		}
	}
	return nil
}

// missing reports an end whose webhook did not come.
func (l *load) missing() error {
	for _, j := range l.all() {
		if !j.webhook {
			continue
		}
		j.mu.Lock()
		ends := map[string]int{}
		for _, end := range j.ends {
			ends[string(end)]++
		}
		j.mu.Unlock()

		for end, n := range ends {
			if got := l.receiver.times(end); got < n {
				return fmt.Errorf("the webhook of %s came %d times, it ended so %d times", end, got, n)
			}
		}
	}

	return nil
}
