package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// step is by how much the clock of a paused server steps, forward or back.
const step = time.Hour

// calm is what is known of workers that live all the time and of a server that is paused. Its methods do nothing on nil.
type calm struct {
	lease time.Duration
	mu    sync.Mutex
	takes map[string]int // of each job
	may   map[string]int // how often each may be taken, if that is more than once
	began time.Time      // of the present pause; zero: there is none
	stood time.Duration  // in pauses before
}

// took notes a take. A job is taken once, and once more after each retry.
func (c *calm) took(l *ledger, id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.takes[id]++
	twice := c.takes[id] > 1+c.may[id]
	c.mu.Unlock()
	if twice {
		l.violated("job %s ran twice, and its worker lives", id)
	}
}

// retried notes that a job is about to be retried.
func (c *calm) retried(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.may[id]++
}

// stands gives the present moment, and how long the server has stood still by then.
func (c *calm) stands() (now time.Time, stood time.Duration) {
	if c == nil {
		return time.Now(), 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, stood = time.Now(), c.stood
	if !c.began.IsZero() {
		stood += now.Sub(c.began)
	}
	return now, stood
}

// passed gives how long the server has run since a moment, which was when it had stood so long.
func (c *calm) passed(since time.Time, stood time.Duration) time.Duration {
	now, standing := c.stands()
	return now.Sub(since) - (standing - stood)
}

// judgeEnd holds the end of a job against the times that it was given. The caller has the job's lock.
func (c *calm) judgeEnd(l *ledger, j *job, d document) {
	if c == nil || !d.ended() {
		return
	}

	var limit int64
	switch {
	case d.Retries > 0 || strings.Contains(d.Error, "gave up"):
		l.violated("job %s was taken from a worker that lives: %s", j.id, j.final)
	case d.Status != "TIMED_OUT":
	case scan(d.Error, "executionTimeout of %d ms exceeded", &limit):
		if d.Ran < limit {
			l.violated("job %s ended early: %s", j.id, j.final)
		}
	case d.Error == "its time to live is over":
		// A second of each pause counts, and what time it takes to stop a process and to let it go on.
		if ran := c.passed(j.begun, j.stood); ran < j.ttl-time.Second {
			l.violated("job %s ended early, after %s: %s", j.id, ran, j.final)
		}
	}
}

func scan(text, format string, n *int64) bool {
	_, err := fmt.Sscanf(text, format, n)
	return err == nil
}

// gentle are the clients that leave every job the time that it was given.
func (l *load) gentle() []client {
	return []client{{8, 100, l.submit}, {4, 50, l.poll}, {1, 200, l.cancel}, {1, 100, l.retry}, {2, 50, l.read}, {1, 10_000, l.purge}}
}

// pauseServer puts load on a server, pauses it that often and steps its clock as often, and holds it to what it promised.
func pauseServer(c settings, pauses int, lease time.Duration, seed uint64) error {
	if !canPause {
		fmt.Println("SKIPPED: this system cannot pause a process")
		return nil
	}
	c.endpoints, c.more = managed(c.berth), []string{"--lease", lease.String(), "--test-controls"}
	s, err := c.start()
	if err != nil {
		return err
	}

	defer s.kill()
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}

	defer receiver.close()
	l := &load{service: s.service(), ledger: newLedger(), receiver: receiver}
	l.calm = &calm{lease: lease, takes: map[string]int{}, may: map[string]int{}}
	l.http.Timeout = 0 // whoever asks a paused server waits
	l.room.Store(waiting)

	ctx, stop := context.WithCancel(context.Background())
	working, stopWork := context.WithCancel(context.Background())
	var clients, workers sync.WaitGroup
	clients.Go(func() { l.clients(ctx, seed, l.gentle()) })
	workers.Go(func() { l.play(working, seed) })

	defer func() {
		stop()
		stopWork()
		clients.Wait()
		workers.Wait()
	}()

	random := source(seed, 0)
	for round := range pauses {
		if err := l.disturb(s, random, round); err != nil {
			return fmt.Errorf("pause %d: %w", round+1, err)
		}
		l.room.Store(int64(waiting - l.count(ctx)))
	}

	stop()
	clients.Wait()
	if err := l.verify(working); err != nil {
		return err
	}

	fmt.Printf("server: %d pauses, %s in all, and as many steps of %s; %s\n", pauses, l.calm.stood.Round(time.Second), step, l.summary())
	return nil
}

// disturb pauses the server once and steps its clock once, in either order.
func (l *load) disturb(s *server, random *rand.Rand, round int) error {
	by := step
	if round%2 == 1 {
		by = -step
	}
	whiles := []func() error{
		func() error { return l.calm.pause(s, random) },
		func() error { return l.stepClock(s, by) },
	}
	random.Shuffle(len(whiles), func(i, j int) { whiles[i], whiles[j] = whiles[j], whiles[i] })

	for _, disturb := range whiles {
		select {
		case <-l.failed:
			return l.err()
		case <-time.After(l.calm.lease/10 + time.Duration(random.Int64N(int64(l.calm.lease)/4))):
		}
		if err := disturb(); err != nil {
			return err
		}
	}

	return nil
}

// pause stops the server's process for a while.
func (c *calm) pause(s *server, random *rand.Rand) error {
	d := c.lease/6 + time.Duration(random.Int64N(int64(c.lease)*11/6))
	if err := stopProcess(s.cmd.Process); err != nil {
		return err
	}

	c.mu.Lock()
	c.began = time.Now() // not before: as long as it runs it does not stand, and this process may be slow to stop it
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	c.stood += time.Since(c.began)
	c.began = time.Time{}
	c.mu.Unlock()
	return continueProcess(s.cmd.Process)
}

// stepClock has the time of day step that the server sees.
func (l *load) stepClock(s *server, by time.Duration) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/_berth/clock/step", strings.NewReader(fmt.Sprintf(`{"milliseconds":%d}`, by.Milliseconds())))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.Controls)
	req.Header.Set("Content-Type", "application/json")
	res, err := l.http.Do(req)
	if err != nil {
		return err
	}

	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("a step of the clock: %s", res.Status)
	}
	return nil
}
