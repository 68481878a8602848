package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stays is how long a job waits in the part long until it is over, and kept how long it is kept from then on.
const stays, kept = time.Minute, 30 * time.Minute

// minute is what was seen in one.
type minute struct {
	tail, longest float64 // ms: 99 of 100 answers, and the last one
	memory, file  float64 // MB, at its end; the file with its log
}

// long offers the mix for very long, and compares the last minutes with the first ones: of the file, with the first ones in which as many
// jobs are deleted as come.
func (b *bench) long() error {
	const edge = 5 // minutes at each end that are compared
	minutes := int(b.lasts / time.Minute)
	if minutes < edge {
		return errors.New("-long must be 5m at least")
	}
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()
	if err := berth.fillAudit(); err != nil {
		return err
	}
	most, err := b.saturation(berth, berth.steady)
	if err != nil {
		return err
	}

	rate := most / 3
	mix, err := berth.steady(stays)
	if err != nil {
		return err
	}
	var seen []minute
	var stopped []string
	count := 0
	for i := range minutes + 2 { // until the first jobs are over, there is less to do
		watch := watchStalls()
		all, err := answers(berth.address, rate, time.Minute, mix)
		watch.stop()
		if err != nil {
			return err
		}
		count += len(all)
		if i < 2 {
			continue
		}
		one, err := berth.minute(times(all))
		if err != nil {
			return err
		}
		seen = append(seen, one)
		for _, s := range watch.stalled(all) {
			stopped = append(stopped, fmt.Sprintf("minute %d, %.1f s: %d answers, the longest %.0f ms (%s); the machine below took %.0f %% of the processors then, a timer of the load was %.0f ms late, and somebody waited for the disk for %.0f ms",
				i+1, s.at.Seconds(), s.answers, s.longest, kinds[s.kind], 100*s.taken, s.late, s.disk))
		}
	}

	b.heading()
	b.number("rate offered, a third of what saturates", "requests/s", bound{}, rate)
	b.result("answers, of which 60 % are of jobs submitted, in so many minutes", "%d, %d", count, minutes+2)
	full := int((stays + kept) / time.Minute) // minutes after which jobs are deleted
	for _, r := range []struct {
		name, unit string
		of         func(minute) float64
		from       int // the first minute
		asked      bound
	}{
		{"99 of 100 answers within, last 5 minutes beside first 5", "ms", func(m minute) float64 { return m.tail }, 0, atMost(1.5)},
		{"memory, last 5 minutes beside first 5", "MB", func(m minute) float64 { return m.memory }, 0, atMost(1.2)},
		{"file with its log, last 5 minutes beside the first 5 in which jobs are deleted", "MB", func(m minute) float64 { return m.file }, full, atMost(1.2)},
	} {
		if r.from+edge > minutes {
			b.result(r.name, "SKIPPED: jobs are deleted after %d minutes", full)
			continue
		}
		readings := func(all []minute) (some []reading) {
			for _, m := range all {
				some = append(some, reading{value: r.of(m)})
			}
			return some
		}
		row{name: r.name, unit: r.unit, asked: r.asked}.report(b, readings(seen[r.from:r.from+edge]), readings(seen[len(seen)-edge:]))
	}

	b.slowest(seen, stopped)
	return nil
}

// slowest says how long the longest answer took, and of the moments with long ones what is known.
func (b *bench) slowest(seen []minute, moments []string) {
	one := slices.MaxFunc(seen, func(x, y minute) int { return int(1000 * (x.longest - y.longest)) })
	b.number("longest time to an answer, of all", "ms", atMost(tooLong), one.longest)
	for i, m := range moments[:min(len(moments), 20)] {
		b.result(fmt.Sprintf("moment %d of %d with answers after more than %d ms", i+1, len(moments), tooLong), "%s", m)
	}
}

// kinds are the requests of the mix in steady.
var kinds = map[byte]string{'r': "run", 's': "status", 'c': "a pod renamed"}

// steady gives the mix of requests after which there is no more than before, but for jobs, which end: pods are renamed in place of
// created.
func (s *server) steady(ttl time.Duration) (func(i int) []byte, error) {
	mix, err := s.mix(ttl)
	if err != nil {
		return nil, err
	}
	renames, err := s.renames()
	if err != nil {
		return nil, err
	}
	return func(i int) []byte {
		if order[i%len(order)] == 'c' {
			return renames[i/len(order)%len(renames)]
		}
		return mix(i)
	}, nil
}

// renames makes a hundred pods, and requests of which each gives one of them another name than the one before has.
func (s *server) renames() (all [][]byte, err error) {
	var again [][]byte
	err = each(s.address, 1, func(_ int, c *conn) error {
		for range 100 {
			body, err := c.ask(s.createPod(goodPod), http.StatusCreated)
			if err != nil {
				return err
			}
			var pod struct{ ID string }
			if err := json.Unmarshal(body, &pod); err != nil {
				return err
			}
			all = append(all, request(http.MethodPatch, "/v2/pods/"+pod.ID, s.key, []byte(`{"name":"renamed"}`)))
			again = append(again, request(http.MethodPatch, "/v2/pods/"+pod.ID, s.key, []byte(`{"name":"bench"}`)))
		}
		return nil
	})
	return append(all, again...), err
}

// fillAudit has the server note as many changes as it keeps: from then on the oldest one goes with each.
func (s *server) fillAudit() error {
	const most = 100_000
	renames, err := s.renames()
	if err != nil {
		return err
	}
	return each(s.address, connections, func(i int, c *conn) error {
		for n := range most/connections + 1 {
			if _, err := c.ask(renames[(i+n*connections)%len(renames)], http.StatusOK); err != nil {
				return err
			}
		}
		return nil
	})
}

// minute sums up one that is over.
func (s *server) minute(took []float64) (m minute, err error) {
	m.tail, m.longest = quantile(took, 0.99), slices.Max(took)
	memory, err := resident(s.cmd.Process.Pid)
	if err != nil {
		return m, err
	}
	m.memory = float64(memory) / 1e6

	for _, name := range []string{"berth.db", "berth.db-wal"} {
		file, err := os.Stat(filepath.Join(s.data, name))
		if err != nil {
			return m, fmt.Errorf("the size of the file: %w", err)
		}
		m.file += float64(file.Size()) / 1e6
	}
	return m, nil
}
