package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The endpoints: one whose workers this program plays, two whose workers the server starts.
const (
	own       = "own"
	echoing   = "echo"
	streaming = "stream"
)

// waiting is how many jobs may be unfinished at a time, so that all end soon after the last kill.
const waiting = 400

// load is clients that do everything a client can, all the time, whether the server is up or not.
type load struct {
	*service
	*ledger
	receiver *receiver
	numbers  atomic.Int64  // of the inputs
	room     atomic.Int64  // submissions until the next count of what is unfinished
	taken    chan struct{} // somebody may wait for the next take
}

// client is a kind of client.
type client struct {
	n     int
	pause int // milliseconds, on the average
	act   func(context.Context, *rand.Rand)
}

// everybody is every kind of client.
func (l *load) everybody() []client {
	return []client{
		{16, 30, l.submit}, {2, 20, l.poll}, {1, 50, l.cancel}, {2, 30, l.retry}, {4, 20, l.read}, {1, 300, l.shorten}, {1, 3000, l.purge},
	}
}

// clients works until ctx ends. What was asked by then is waited for: a server that is up may still do it.
func (l *load) clients(ctx context.Context, seed uint64, kinds []client) {
	var all sync.WaitGroup
	actor := uint64(100)
	for _, kind := range kinds {
		for range kind.n {
			actor++
			r := source(seed, actor)
			all.Go(func() {
				for ctx.Err() == nil {
					kind.act(context.WithoutCancel(ctx), r)
					pause(ctx, time.Duration(r.IntN(2*kind.pause))*time.Millisecond)
				}
			})
		}
	}

	all.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// submit asks for a job by /run or /runsync, with or without a webhook and a policy.
func (l *load) submit(ctx context.Context, r *rand.Rand) {
	if l.room.Add(-1) < 0 {
		return
	}
	j := &job{endpoint: []string{own, own, own, echoing, streaming}[r.IntN(5)], webhook: r.IntN(2) == 0, sync: r.IntN(5) == 0}
	if !j.webhook && r.IntN(10) == 0 {
		j.silent = l.receiver.silent[r.IntN(len(l.receiver.silent))]
	}
	n := l.numbers.Add(1)
	input := fmt.Sprintf(`{"n":%d}`, n)
	j.output = input
	if j.endpoint == streaming {
		input, j.output = fmt.Sprintf(`{"chunks":["%d"],"ms":20}`, n), "[]"
	}

	policy := []string{`,"policy":{"ttl":10000}`, "", `,"policy":{"executionTimeout":5000}`}[min(r.IntN(10), 2)]
	if j.endpoint == own && r.IntN(10) == 0 { // elsewhere it might wait for ever: it starts no worker
		policy = `,"policy":{"lowPriority":true}`
	}
	if j.ttl = 24 * time.Hour; strings.Contains(policy, "ttl") {
		j.ttl = 10 * time.Second
	}
	l.send(ctx, j, input, policy)
}

// send submits a job and notes it if it is acknowledged.
func (l *load) send(ctx context.Context, j *job, input, policy string) {
	body := `{"input":` + input + policy
	if j.webhook {
		body += fmt.Sprintf(`,"webhook":%q`, l.receiver.url)
	}
	if j.silent != "" {
		body += fmt.Sprintf(`,"webhook":%q`, j.silent)
	}
	operation := "run"
	if j.sync {
		operation = "runsync?wait=1000"
	}
	j.begun, j.stood = l.calm.stands()
	j.alive = j.begun

	status, answer := l.call(ctx, "POST", j.endpoint, operation, body+"}")
	var d document
	switch {
	case status == 0:
		return // never acknowledged
	case status != http.StatusOK || json.Unmarshal(answer, &d) != nil || d.ID == "":
		l.violated("%s: %d %s", operation, status, answer)
		return
	}

	j.id = d.ID
	j.mu.Lock()
	defer j.mu.Unlock()
	l.acknowledged(j)
	l.judge(j, j.begun, operation, status, answer)
}

// look reads the status of a job and judges it.
func (l *load) look(ctx context.Context, j *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	asked := time.Now()
	status, answer := l.call(ctx, "GET", j.endpoint, "status/"+j.id, "")
	l.judge(j, asked, "status", status, answer)
}

func (l *load) poll(ctx context.Context, r *rand.Rand) {
	if j := l.pick(r); j != nil {
		l.look(ctx, j)
	}
}

// cancel ends a job, or learns how it ended.
func (l *load) cancel(ctx context.Context, r *rand.Rand) {
	j := l.pick(r)
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	asked := time.Now()
	status, answer := l.call(ctx, "POST", j.endpoint, "cancel/"+j.id, "")
	if d, ok := l.judge(j, asked, "cancel", status, answer); ok && !d.ended() {
		l.violated("the cancelled job %s is %s", j.id, answer)
	}
}

// retry has a job that is known to have FAILED or TIMED_OUT run again.
func (l *load) retry(ctx context.Context, r *rand.Rand) {
	j := l.pick(r)
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var d document
	if j.final == nil || json.Unmarshal(j.final, &d) != nil || d.Status != "FAILED" && d.Status != "TIMED_OUT" {
		return
	}

	before, asked := j.final, time.Now()
	l.calm.retried(j.id)
	status, answer := l.call(ctx, "POST", j.endpoint, "retry/"+j.id, "")
	switch status {
	case 0:
		j.final, j.doubt = nil, before // it may have been retried or not
	case http.StatusOK:
		j.final = nil
		if d, ok := l.judge(j, asked, "retry", status, answer); ok && d.Status != "IN_QUEUE" {
			l.violated("the retried job %s is %s", j.id, answer)
		}
	default:
		l.judge(j, asked, "retry", status, answer)
	}
}

// read takes chunks from the stream of a job. No chunk comes twice: it is gone before it is answered.
func (l *load) read(ctx context.Context, r *rand.Rand) {
	j := l.pick(r)
	if j == nil {
		return
	}
	status, answer := l.call(ctx, "GET", j.endpoint, "stream/"+j.id+"?wait=1000", "")
	if status == 0 || status == http.StatusNotFound { // read to its end, perhaps
		return
	}

	var s struct {
		Stream []struct{ Output json.RawMessage }
	}
	if status != http.StatusOK || json.Unmarshal(answer, &s) != nil {
		l.violated("stream of job %s: %d %s", j.id, status, answer)
		return
	}

	if j.endpoint == own { // an attempt of the server's workers yields what the one before did
		for _, c := range s.Stream {
			l.chunk(string(c.Output))
		}
	}
}

// shorten leaves a job next to no time to live, or its result.
func (l *load) shorten(ctx context.Context, r *rand.Rand) {
	j := l.pick(r)
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mayVanish = true
	asked := time.Now()
	status, answer := l.call(ctx, "GET", j.endpoint, fmt.Sprintf("status/%s?ttl=%d", j.id, 1+r.IntN(3000)), "")
	l.judge(j, asked, "status with ttl", status, answer)
}

// purge cancels what waits at one endpoint.
func (l *load) purge(ctx context.Context, r *rand.Rand) {
	if status, answer := l.call(ctx, "POST", []string{own, echoing, streaming}[r.IntN(3)], "purge-queue", ""); status != 0 && status != http.StatusOK {
		l.violated("purge-queue: %d %s", status, answer)
	}
}
