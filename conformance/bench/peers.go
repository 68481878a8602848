package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// peer is a queue of somebody else.
type peer struct {
	name string
	// store starts what the queue is kept in.
	store func() (address string, stop func(), err error)
	// front starts the program of a front for the store: it enqueues into the named queue and has so many workers for it.
	front        func(address, queue string, workers int) (*server, error)
	stored, done bound // what is asked of berth's /run beside the peer's enqueueing, and from enqueue to done
}

// peers measures berth beside queues of others, each behind a bare HTTP front: jobs stored a second without workers, the time
// from enqueue to done of one job at a time, and how many jobs a second go from enqueue to done with 64 workers. berth's workers
// come over HTTP; the peers' are in the front, which favours the peers.
func (b *bench) peers() error {
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()
	redis := func(appendfsync string) func() (string, func(), error) {
		return func() (string, func(), error) { return b.redis(appendfsync) }
	}
	b.heading()

	for _, p := range []peer{
		{"asynq, Redis appendfsync everysec", redis("everysec"), b.goFront("asynq"), atLeast(1.5), atLeast(1.5)},
		{"asynq, Redis appendfsync always", redis("always"), b.goFront("asynq"), atLeast(2), bound{}},
		{"BullMQ, Redis appendfsync everysec", redis("everysec"), b.bullmq, atLeast(2), atLeast(1.3)},
		{"BullMQ, Redis appendfsync always", redis("always"), b.bullmq, atLeast(2), bound{}},
		{"River, PostgreSQL as it comes", b.postgres, b.goFront("river"), atLeast(10), bound{}},
	} {
		if err := b.beside(berth, p); err != nil {
			return err
		}
	}

	return nil
}

// beside prints the rows of one peer.
func (b *bench) beside(berth *server, p peer) error {
	enqueue := request(http.MethodPost, "/", "", kilobyte)
	rows := []struct {
		row
		workers int
		theirs  func(*server) func() (reading, error)
	}{
		{row{name: "/run, 64 connections, beside " + p.name, measured: b.submissions(berth), unit: "requests/s", asked: p.stored}, 0,
			func(front *server) func() (reading, error) { return b.constant(front, http.StatusOK, enqueue) }},
		{row{name: "/runsync, one at a time, beside " + p.name, measured: b.roundTrips(berth), unit: "µs, median", asked: below(1)}, connections,
			func(front *server) func() (reading, error) {
				return func() (reading, error) {
					return front.latency(b.length, request(http.MethodPost, "/done", "", kilobyte))
				}
			}},
		{row{name: "enqueue to done, 64 connections, beside " + p.name, measured: b.enqueueToDone(berth), unit: "jobs/s", asked: p.done}, connections,
			func(front *server) func() (reading, error) {
				return func() (reading, error) { return b.through(front, enqueue, front.jobsDone) }
			}},
	}

	var address string
	for i, r := range rows {
		if !b.wants(r.name) {
			continue
		}
		if address == "" {
			started, stop, err := p.store()
			if err != nil {
				for _, r := range rows[i:] {
					b.skipped(r.name, err.Error())
				}
				return nil
			}
			defer stop()
			address = started
		}

		// A queue of its own: what a row leaves is nothing to the next.
		front, err := p.front(address, fmt.Sprintf("queue%d", i), r.workers)
		if err != nil {
			b.skipped(r.name, err.Error())
			continue
		}

		r.reference = r.theirs(front)
		err = r.print(b)
		front.stop()
		if err != nil {
			return err
		}
	}

	return nil
}

// jobsDone asks a front how many jobs its workers have done.
func (s *server) jobsDone() (int64, error) {
	body, err := s.once(request(http.MethodGet, "/", "", nil))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(body), 10, 64)
}

// enqueueToDone measures /run on 64 connections until 64 workers have done everything.
func (b *bench) enqueueToDone(berth *server) func() (reading, error) {
	return func() (reading, error) {
		return withWorkers(berth, connections, func() (reading, error) {
			return b.through(berth, berth.post("run", kilobyte), func() (int64, error) {
				body, err := berth.once(berth.get("health"))
				if err != nil {
					return 0, err
				}
				return numberOf(body, `"completed":`)
			})
		})
	}
}

// through enqueues for a while and waits until everything is done.
func (b *bench) through(s *server, enqueue []byte, done func() (int64, error)) (reading, error) {
	before, err := done()
	if err != nil {
		return reading{}, err
	}

	return s.reading(func() (int64, error) {
		start := time.Now()
		enqueued, err := s.rate(connections, b.length, http.StatusOK, forever(enqueue))
		if err != nil {
			return 0, err
		}

		for ; ; time.Sleep(time.Millisecond) {
			now, err := done()
			if err != nil || now-before >= enqueued.units {
				return enqueued.units, err
			}
			if time.Since(start) > time.Minute+b.length {
				return 0, fmt.Errorf("%d of %d jobs are done after a minute", now-before, enqueued.units)
			}
		}
	})
}

// goFront is the front of a queue whose library is Go's.
func (b *bench) goFront(kind string) func(address, queue string, workers int) (*server, error) {
	return func(address, queue string, workers int) (*server, error) {
		path, err := b.build("peer")
		if err != nil {
			return nil, err
		}
		return run(path, kind, address, queue, strconv.Itoa(workers))
	}
}

// bullmq is the front of BullMQ, a program of Node.
func (b *bench) bullmq(address, queue string, workers int) (*server, error) {
	node, dir, err := b.npm("bullmq")
	if err != nil {
		return nil, err
	}
	return run(node, dir+"/front.mjs", address, queue, strconv.Itoa(workers))
}
