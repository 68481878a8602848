package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stays is how long a job waits in the part long until it is over.
const stays = time.Minute

// minute is what was seen in one.
type minute struct {
	tail, longest float64 // ms: 99 of 100 answers, and the last one
	memory, file  float64 // MB, at its end; the file with its log
}

// long offers the mix for very long, and compares the last minutes with the first ones after what is steady has begun.
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
	most, err := b.saturation(berth)
	if err != nil {
		return err
	}

	rate := most / 3
	mix, err := berth.mix(stays)
	if err != nil {
		return err
	}
	var seen []minute
	answers := 0
	for i := range minutes + 2 { // until the first jobs are over, it is not steady
		took, err := offer(berth.address, rate, time.Minute, mix)
		if err != nil {
			return err
		}
		answers += len(took)
		if i < 2 {
			continue
		}
		one, err := berth.minute(took)
		if err != nil {
			return err
		}
		seen = append(seen, one)
	}

	b.heading()
	b.number("rate offered, a third of what saturates", "requests/s", bound{}, rate)
	b.result("answers, of which 60 % are of jobs submitted, in so many minutes", "%d, %d", answers, minutes+2)
	for _, r := range []struct {
		name, unit string
		of         func(minute) float64
		asked      bound
	}{
		{"99 of 100 answers within, last 5 minutes beside first 5", "ms", func(m minute) float64 { return m.tail }, atMost(1.5)},
		{"memory, last 5 minutes beside first 5", "MB", func(m minute) float64 { return m.memory }, atMost(1.2)},
		{"file with its log, last 5 minutes beside first 5", "MB", func(m minute) float64 { return m.file }, atMost(1.2)},
	} {
		readings := func(all []minute) (some []reading) {
			for _, m := range all {
				some = append(some, reading{value: r.of(m)})
			}
			return some
		}
		row{name: r.name, unit: r.unit, asked: r.asked}.report(b, readings(seen[:edge]), readings(seen[len(seen)-edge:]))
	}

	slowest := slices.MaxFunc(seen, func(x, y minute) int { return int(1000 * (x.longest - y.longest)) })
	b.number("longest time to an answer, of all", "ms", atMost(100), slowest.longest)
	return nil
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
