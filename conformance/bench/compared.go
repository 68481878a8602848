package main

import (
	"errors"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// measured reads a number once.
type measured func() (reading, error)

// comparedPart is a group of rows that a comparison measures on the same two servers.
type comparedPart struct {
	name  string
	serve func(b *bench) (*server, error) // nil: the rows start the program themselves
	rows  []comparedRow
}

// comparedRow is measured on each of two servers. They have the names that `make bench` gives them.
type comparedRow struct {
	name, unit string
	less       bool // is better
	cold       bool // is not measured beforehand to warm up
	prepare    func(b *bench, s *server) (measured, error)
}

// plainly makes a row that needs no preparation.
func plainly(of func(b *bench, s *server) func() (reading, error)) func(*bench, *server) (measured, error) {
	return func(b *bench, s *server) (measured, error) { return of(b, s), nil }
}

// comparedParts are the rows of `make bench` that a server alone gives, without a reference.
var comparedParts = []comparedPart{
	{name: "start", rows: []comparedRow{
		{name: "first answer after the start", unit: "ms", less: true, prepare: func(b *bench, _ *server) (measured, error) {
			return func() (reading, error) {
				took, _, err := firstAnswer(b.fresh(), 0)
				return reading{value: took}, err
			}, nil
		}},
		{name: "memory when idle", unit: "MB", less: true, cold: true, prepare: func(b *bench, _ *server) (measured, error) {
			return func() (reading, error) {
				_, bytes, err := firstAnswer(b.fresh(), b.length)
				return reading{value: float64(bytes) / 1e6}, err
			}, nil
		}},
	}},
	{name: "requests", serve: (*bench).counted, rows: []comparedRow{
		{name: "/status, 64 connections", unit: "requests/s", prepare: (*bench).statusRate},
		{name: "/run, 64 connections", unit: "requests/s", prepare: plainly((*bench).submissions)},
		{name: "take + done, 64 connections", unit: "jobs/s", prepare: plainly(func(b *bench, s *server) func() (reading, error) { return b.drain(s, 1) })},
		{name: "take + done, batches of 10", unit: "jobs/s", prepare: plainly(func(b *bench, s *server) func() (reading, error) { return b.drain(s, 10) })},
		{name: "/runsync, one connection", unit: "µs, median", less: true, prepare: plainly((*bench).roundTrips)},
		{name: "/runsync, 64 connections", unit: "requests/s", prepare: plainly((*bench).synced)},
		{name: "createPod refused", unit: "requests/s", prepare: plainly(func(b *bench, s *server) func() (reading, error) {
			return b.pods(s, http.StatusUnprocessableEntity, badPod)
		})},
		{name: "memory after the rows above", unit: "MB", less: true, cold: true, prepare: plainly((*bench).held)},
		{name: "createPod stored", unit: "requests/s", prepare: plainly(func(b *bench, s *server) func() (reading, error) {
			return b.pods(s, http.StatusCreated, goodPod)
		})},
		{name: "mixed: half of the answers within, at 1000 requests/s", unit: "ms", less: true, prepare: mixedWithin(0.5)},
		{name: "mixed: 99 of 100 answers within, at 1000 requests/s", unit: "ms", less: true, prepare: mixedWithin(0.99)},
	}},
	{name: "lists", serve: (*bench).counted, rows: []comparedRow{
		{name: "REST, 64 connections", unit: "lists/s", prepare: func(b *bench, s *server) (measured, error) {
			rest, _, err := s.podLists()
			return b.constant(s, http.StatusOK, rest), err
		}},
		{name: "GraphQL, 64 connections", unit: "lists/s", prepare: func(b *bench, s *server) (measured, error) {
			_, graph, err := s.podLists()
			return b.constant(s, http.StatusOK, graph), err
		}},
	}},
	{name: "proxy", serve: (*bench).showing, rows: []comparedRow{
		{name: "through berth, 64 connections", unit: "requests/s", prepare: func(b *bench, s *server) (measured, error) {
			req, err := s.toPod(request(http.MethodGet, "/", "", nil))
			return b.constant(s, http.StatusOK, req), err
		}},
	}},
}

// statusRate measures the rate of /status of waiting jobs on 64 connections.
func (b *bench) statusRate(s *server) (measured, error) {
	status, err := s.statuses()
	return func() (reading, error) { return s.rate(connections, b.length, http.StatusOK, status) }, err
}

// statuses submits jobs, and gives requests for their statuses in turn.
func (s *server) statuses() (func() []byte, error) {
	ids, err := s.fill(1000)
	if err != nil {
		return nil, err
	}

	var turn atomic.Int64
	statuses := make([][]byte, len(ids))
	for i, id := range ids {
		statuses[i] = s.get("status/" + id)
	}
	return func() []byte { return statuses[int(turn.Add(1))%len(statuses)] }, nil
}

// synced measures the rate of /runsync on 64 connections, with as many workers.
func (b *bench) synced(s *server) func() (reading, error) {
	return func() (reading, error) {
		return withWorkers(s, connections, b.constant(s, http.StatusOK, s.post("runsync", kilobyte)))
	}
}

// mixedWithin measures the time within which that part of the answers to the mix comes, at a constant rate.
func mixedWithin(part float64) func(*bench, *server) (measured, error) {
	return func(b *bench, s *server) (measured, error) {
		mix, err := s.mix(time.Minute)
		return func() (reading, error) {
			var took []float64
			r, err := s.reading(func() (n int64, err error) {
				took, err = offer(s.address, offered, 2*b.length, mix)
				return int64(len(took)), err
			})
			if err == nil && len(took) == 0 {
				err = errors.New("no answers")
			}
			if err == nil {
				r.value = quantile(took, part)
			}
			return r, err
		}, err
	}
}

// held measures the resident memory of a server.
func (b *bench) held(s *server) func() (reading, error) {
	return func() (reading, error) {
		bytes, err := resident(s.cmd.Process.Pid)
		return reading{value: float64(bytes) / 1e6}, err
	}
}

// programSize is the size of each program in MB: a fact, measured once.
func programSize(base, tree string) (*measure, error) {
	m := &measure{name: "size of the program", unit: "MB", less: true}
	for path, sizes := range map[string]*[]float64{base: &m.base, tree: &m.tree} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		*sizes = []float64{float64(info.Size()) / 1e6}
	}
	return m, nil
}

// comparedNames are the names of the parts.
func comparedNames() []string {
	var names []string
	for _, p := range comparedParts {
		names = append(names, p.name)
	}
	return names
}
