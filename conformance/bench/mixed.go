package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// turns is how many each of the servers has.
const turns = 6

// leastTTL is the shortest time to live that a job may have.
const leastTTL = 10 * time.Second

// order is the mix: 60 % run, 30 % status, 10 % createPod.
const order = "rsrcrsrrsr"

// share is a part of the rate that saturates berth, and what is asked of the times at it.
type share struct {
	name          string
	of            float64
	middle, tail  bound // of half and of 99 of 100 answers
	leavesResults bool  // its server is asked for them in the end
}

// load offers the mix to the bare server and to berth, in turns, at constant rates that are parts of what saturates berth, and
// compares the times to the answers.
func (b *bench) load() error {
	bare, err := b.bare("echo")
	if err != nil {
		return err
	}
	defer bare.stop()
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}

	defer berth.stop()
	most, err := b.saturation(berth, berth.mix)
	if err != nil {
		return err
	}

	b.heading()
	for _, s := range []share{
		{name: "a tenth", of: 0.1, tail: atMost(3)},
		{name: "half", of: 0.5, middle: atMost(4), tail: atMost(4), leavesResults: true},
	} {
		if err := b.offered(bare, berth, most, s); err != nil {
			return err
		}
	}
	return b.account(most / 2)
}

// offered offers the mix at a part of the rate. A job that is submitted in one turn of berth's is over its time to live in the next, and
// results of /runsync, made before, are deleted in the third.
func (b *bench) offered(bare, berth *server, most float64, s share) (err error) {
	turn, rate := b.mixed/turns, most*s.of
	post, get := request(http.MethodPost, "/", "", kilobyte), request(http.MethodGet, "/", "", nil)
	pod := request(http.MethodPost, "/", "", goodPod)
	theirs := func(i int) []byte {
		return map[byte][]byte{'r': post, 's': get, 'c': pod}[order[i%len(order)]]
	}
	var synced []string
	var ours func(i int) []byte
	var bares, berths [turns][]float64

	submitted := int64(0)
	for t := range turns + 1 {
		reference, err := offer(bare.address, rate, turn, theirs)
		if err != nil {
			return fmt.Errorf("bare: %w", err)
		}

		if t == 0 {
			if synced, err = berth.finish(turn); err != nil {
				return err
			}
			// Not sooner: the worker of finish would do the jobs whose status is asked for.
			if ours, err = berth.mix(max(2*turn, leastTTL)); err != nil {
				return err
			}
			continue // warms caches and connections
		}

		took, err := offer(berth.address, rate, turn, ours)
		if err != nil {
			return err
		}
		bares[t-1], berths[t-1] = reference, took
		submitted += int64(len(took)) * 6 / 10
	}

	b.times(s, bares, berths)
	b.number("rate offered to both, "+s.name+" of what saturates", "requests/s", bound{}, rate)
	if s.leavesResults {
		return b.evidence(berth, submitted, synced)
	}
	err = berth.purge()
	berth.awaitIdle()
	return err
}

// times prints the rows of the times to the answers.
func (b *bench) times(s share, bares, berths [turns][]float64) {
	for _, p := range []struct {
		name  string
		of    float64
		asked bound
	}{{"half of the answers within", 0.5, s.middle}, {"99 of 100 answers within", 0.99, s.tail}, {"999 of 1000 answers within", 0.999, bound{}}} {
		pick := func(turns [turns][]float64) (picked []reading) {
			for _, took := range turns {
				picked = append(picked, reading{value: quantile(took, p.of)})
			}
			return picked
		}

		whole := func(turns [turns][]float64) []reading {
			return []reading{{value: quantile(slices.Concat(turns[:]...), p.of)}}
		}
		row{name: s.name + ": " + p.name + ", by turns", unit: "ms"}.report(b, pick(bares), pick(berths))
		row{name: s.name + ": " + p.name + ", over all", unit: "ms", asked: p.asked}.report(b, whole(bares), whole(berths))
	}
}

// evidence reports what berth did beside answering.
func (b *bench) evidence(berth *server, submitted int64, synced []string) error {
	health, err := berth.once(berth.get("health"))
	if err != nil {
		return err
	}
	waiting, err := numberOf(health, `"inQueue":`)
	if err != nil {
		return err
	}

	b.result("jobs submitted at that rate, and waiting at the end", "%d, %d", submitted, waiting)
	deleted, asked := 0, 0
	err = each(berth.address, 1, func(_ int, c *conn) error {
		for i := 0; i < len(synced); i += 100 {
			status, _, err := c.do(berth.get("status/" + synced[i]))
			if err != nil {
				return err
			}
			asked++
			if status == http.StatusNotFound {
				deleted++
			}
		}

		return nil
	})
	if err != nil {
		return err
	}

	b.result("results of /runsync made before, and of a hundredth of them how many are deleted at the end", "%d, %d of %d", len(synced), deleted, asked)
	file, err := os.Stat(filepath.Join(berth.data, "berth.db"))
	if err != nil {
		return err
	}

	log, err := os.Stat(filepath.Join(berth.data, "berth.db-wal"))
	if err != nil {
		return err
	}
	b.result("database, and its log since the last checkpoint that emptied it", "%.0f MB, %.0f MB", float64(file.Size())/1e6, float64(log.Size())/1e6)
	return nil
}

// mix gives the requests to berth, by number.
func (s *server) mix(ttl time.Duration) (func(i int) []byte, error) {
	ids, err := s.fill(1000)
	if err != nil {
		return nil, err
	}
	statuses := make([][]byte, len(ids))
	for i, id := range ids {
		statuses[i] = s.get("status/" + id)
	}
	body := fmt.Appendf(nil, `%s,"policy":{"ttl":%d}}`, kilobyte[:len(kilobyte)-1], ttl.Milliseconds())

	run, pod := s.post("run", body), s.createPod(goodPod)
	return func(i int) []byte {
		switch order[i%len(order)] {
		case 's':
			return statuses[i%len(statuses)]
		case 'c':
			return pod
		default:
			return run
		}
	}, nil
}

// saturation measures how much of a mix berth answers on 64 connections for long: while as many jobs come to the end of their
// time to live as are submitted. It leaves the queue empty.
func (b *bench) saturation(berth *server, mixed func(ttl time.Duration) (func(i int) []byte, error)) (float64, error) {
	mix, err := mixed(leastTTL)
	if err != nil {
		return 0, err
	}
	length := min(leastTTL, b.mixed/turns)
	if _, err := berth.saturate(leastTTL, mix); err != nil {
		return 0, err
	}

	r, err := berth.saturate(length, mix)
	if err != nil {
		return 0, err
	}
	err = berth.purge()
	berth.awaitIdle()

	return r.value, err
}

// saturate sends the mix on 64 connections as fast as it is answered.
func (s *server) saturate(length time.Duration, mix func(i int) []byte) (reading, error) {
	return s.reading(func() (int64, error) {
		start := time.Now()
		var answers atomic.Int64
		err := each(s.address, connections, func(worker int, c *conn) error {
			n := 0
			for ; time.Since(start) < length; n++ {
				if err := c.well(mix(worker + n)); err != nil {
					return err
				}
			}
			answers.Add(int64(n))
			return nil
		})

		return answers.Load(), err
	})
}

// finish has jobs done through /runsync for a while and gives their ids.
func (s *server) finish(length time.Duration) (ids []string, err error) {
	_, err = withWorkers(s, 1, func() (reading, error) {
		start := time.Now()
		return reading{}, each(s.address, 1, func(_ int, c *conn) error {
			for time.Since(start) < length {
				body, err := c.ask(s.post("runsync", kilobyte), http.StatusOK)
				if err != nil {
					return err
				}
				id, err := idOf(body)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}

			return nil
		})
	})

	return ids, err
}
