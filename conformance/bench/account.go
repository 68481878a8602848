package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// account says what of the times of the mixed load at a rate is the disk's and what the collector's: the same load to servers without the one
// or the other, in turns with one that is as it comes.
func (b *bench) account(rate float64) error {
	if err := os.MkdirAll(b.inMemory(), 0o700); err != nil {
		return err
	}
	variants := []struct {
		name string
		data string
		env  []string
	}{
		{name: "as it comes", data: b.directory()},
		{name: "its data in memory", data: filepath.Join(b.inMemory(), "account")},
		{name: "without the collector", data: b.directory(), env: []string{"env", "GOGC=off", "GOMEMLIMIT=off"}},
	}

	turn := b.mixed / turns
	servers, mixes := make([]*server, len(variants)), make([]func(int) []byte, len(variants))
	times := make([][turns / 2][]float64, len(variants))
	for i, v := range variants {
		s, err := b.serve(v.data, v.env...)
		if err != nil {
			return err
		}
		defer s.stop()
		servers[i] = s
		if mixes[i], err = s.mix(max(2*turn, leastTTL)); err != nil {
			return err
		}
	}

	for t := range turns/2 + 1 {
		for i, s := range servers {
			took, err := offer(s.address, rate, turn, mixes[i])
			if err != nil {
				return fmt.Errorf("%s: %w", variants[i].name, err)
			}
			if t > 0 {
				times[i][t-1] = took
			}
		}
	}

	for i, v := range variants[1:] {
		for _, p := range []struct {
			name string
			of   float64
		}{{"half of the answers within", 0.5}, {"99 of 100 answers within", 0.99}} {
			pick := func(turns [turns / 2][]float64) (picked []reading) {
				for _, took := range turns {
					picked = append(picked, reading{value: quantile(took, p.of)})
				}
				return picked
			}
			row{name: "half: " + p.name + ", " + v.name + " beside as it comes", unit: "ms"}.report(b, pick(times[0]), pick(times[i+1]))
		}
	}

	return nil
}
