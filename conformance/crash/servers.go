package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	settle = 3 * time.Minute  // for all jobs to end after the last kill
	arrive = 30 * time.Second // for the last webhooks after that
)

// killServer puts load on a server, kills it that often, starts it again, and holds it to what it promised.
func killServer(berth, data string, rounds int, seed uint64) error {
	managed := endpointsOf(berth)
	s, err := start(berth, data, "127.0.0.1:0", managed)
	if err != nil {
		return err
	}
	defer func() { s.kill() }()
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}
	defer receiver.close()
	l := &load{service: s.service(), ledger: newLedger(), receiver: receiver}
	l.room.Store(waiting)

	ctx, stop := context.WithCancel(context.Background())
	working, stopWork := context.WithCancel(context.Background())
	var clients, workers sync.WaitGroup
	clients.Go(func() { l.clients(ctx, seed, l.everybody()) })
	workers.Go(func() { l.play(working, seed) })
	defer func() {
		stop()
		stopWork()
		clients.Wait()
		workers.Wait()
	}()

	random, listen := source(seed, 0), l.url[len("http://"):]
	for round := range rounds {
		select {
		case <-l.failed:
			return fmt.Errorf("round %d: %w", round+1, l.err())
		case <-time.After(moment(random)):
		}
		s.kill()
		if random.IntN(5) == 0 { // once more, before it is ready
			if s, _, err = launch(berth, data, listen, managed); err != nil {
				return err
			}
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
			s.kill()
		}
		if s, err = start(berth, data, listen, managed); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		l.room.Store(int64(waiting - l.count(ctx)))
		if (round+1)%20 == 0 {
			fmt.Printf("server killed %d times; %d jobs acknowledged\n", round+1, len(l.all()))
		}
	}
	stop()
	clients.Wait()
	if err := l.settle(working); err != nil {
		return err
	}
	fmt.Printf("server: %d kills, %s\n", rounds, l.summary())
	return nil
}

// endpointsOf declares the endpoints.
func endpointsOf(berth string) []string {
	return []string{own + "=", echoing + "=" + berth + " worker --handler echo --concurrency 8", streaming + "=" + berth + " worker --handler stream --concurrency 4"}
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

// settle waits until every job has ended and every webhook has come, and looks at every job once more.
func (l *load) settle(ctx context.Context) error {
	for deadline := time.Now().Add(settle); ; pause(ctx, 500*time.Millisecond) {
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

// missing tells of an end whose webhook did not come.
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
