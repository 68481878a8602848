package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// players is how many workers this program plays.
const players = 10

// takes numbers what is taken, so that each chunk and each failure can be distinguished from all others.
var takes atomic.Int64

// player is a worker of the endpoint named own. It outlives the server, reports what it holds to the next one, and is at
// times forgetful or late.
type player struct {
	*load
	name   string
	random *rand.Rand
	mu     sync.Mutex
	held   []string
}

// play has the workers work until ctx ends.
func (l *load) play(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	for n := range players {
		p := &player{load: l, name: fmt.Sprintf("player%d", n), random: source(seed, uint64(n))}
		all.Go(func() { p.work(ctx) })
		all.Go(func() { p.ping(ctx) })
	}
	all.Wait()
}

func (p *player) ping(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		ids := strings.Join(p.held, ",")
		p.mu.Unlock()
		patient, stop := context.WithTimeout(ctx, p.pings()*2) // as the SDK has it
		p.call(patient, "GET", own, "ping/"+p.name+"?job_id="+ids, "")
		stop()
		pause(ctx, p.pings())
	}
}

// pings is how often it pings.
func (p *player) pings() time.Duration {
	if p.calm != nil {
		return p.calm.lease / 3
	}
	return time.Second
}

func (p *player) work(ctx context.Context) {
	for ctx.Err() == nil {
		status, answer := p.call(ctx, "GET", own, "job-take/"+p.name+"?job_in_progress=0", "")
		var taken struct {
			ID    string          `json:"id"`
			Input json.RawMessage `json:"input"`
		}

		switch {
		case status == 0:
			pause(ctx, 20*time.Millisecond)
			continue
		case status == http.StatusNoContent:
			continue
		case status != http.StatusOK || json.Unmarshal(answer, &taken) != nil:
			p.violated("job-take: %d %s", status, answer)
			return
		}

		select {
		case p.taken <- struct{}{}:
		default:
		}
		p.hold(taken.ID, true)
		p.calm.took(p.ledger, taken.ID)
		p.handle(ctx, taken.ID, string(taken.Input))
		p.hold(taken.ID, false)
	}
}

func (p *player) hold(id string, holds bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = slices.DeleteFunc(p.held, func(other string) bool { return other == id })
	if holds {
		p.held = append(p.held, id)
	}
}

// handle streams, shows progress, and ends the job well, badly or not at all.
func (p *player) handle(ctx context.Context, id, input string) {
	take := takes.Add(1)
	for n := range p.random.IntN(4) {
		p.report(ctx, "job-stream", id, fmt.Sprintf(`{"output":"%d-%d"}`, take, n), false)
		pause(ctx, time.Duration(p.random.IntN(20))*time.Millisecond)
	}
	if p.random.IntN(5) == 0 {
		p.report(ctx, "job-done", id, `{"status":"IN_PROGRESS","output":"half"}`, false)
	}
	body := `{"output":` + input + `}`
	n := p.random.IntN(50)
	if p.calm != nil && n < 2 {
		pause(ctx, time.Duration(p.random.Int64N(int64(p.calm.lease)*3/2)))
		n = 50
	}

	switch n {
	case 0:
		return // forgotten
	case 1:
		pause(ctx, 5*time.Second) // late, for most
	case 2, 3, 4, 5, 6, 7, 8, 9, 10:
		body = fmt.Sprintf(`{"error":"take %d failed"}`, take)
	}

	p.report(ctx, "job-done", id, body, true)
	if p.random.IntN(10) == 0 {
		p.report(ctx, "job-done", id, `{"error":"reported twice"}`, true) // of no effect after the first
	}
}

// report is answered with 200 whatever became of the job. One that matters is repeated until it is answered.
func (p *player) report(ctx context.Context, operation, id, body string, matters bool) {
	for ctx.Err() == nil {
		status, answer := p.call(ctx, "POST", own, operation+"/"+p.name+"/"+id+"?isStream=false", body)
		if status != 0 && status != http.StatusOK {
			p.violated("%s of job %s: %d %s", operation, id, status, answer)
			return
		}
		if status != 0 || !matters {
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}
