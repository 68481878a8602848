package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// shrink finishes a tenth of the backlog's jobs through /runsync, whose results are kept for a minute, and watches the file
// and the slowest answers while they expire.
func (b *bench) shrink() error {
	s, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer s.stop()

	size := func() (bytes int64) {
		for _, name := range []string{"berth.db", "berth.db-wal"} {
			if f, err := os.Stat(filepath.Join(s.data, name)); err == nil {
				bytes += f.Size()
			}
		}
		return bytes
	}

	empty := size()
	jobs := b.jobs / 10
	start := time.Now()
	_, err = withWorkers(s, connections, func() (reading, error) {
		req := s.post("runsync", kilobyte)
		return reading{}, each(s.address, connections, func(_ int, c *conn) error {
			for range jobs / connections {
				if _, err := c.ask(req, http.StatusOK); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}

	most, filled := size(), time.Since(start)
	stop := make(chan struct{})
	var client steady
	var watch sync.WaitGroup
	watch.Go(func() { client.run(s, start.Add(syncKept), start.Add(filled+syncKept+sweepTick), stop) })

	least := most
	for time.Since(start) < filled+90*time.Second {
		time.Sleep(500 * time.Millisecond)
		least = min(least, size())
	}
	close(stop)
	watch.Wait()
	if client.failed != nil {
		return client.failed
	}
	if len(client.slowest) == 0 {
		return errors.New("no answer while results expired")
	}

	b.heading()
	b.result(fmt.Sprintf("file and log: empty, with %d results, when they had expired", jobs), "%.1f, %.1f, %.1f MB", float64(empty)/1e6, float64(most)/1e6, float64(least)/1e6)
	b.result("/run while they expire: half, 99 of 100, all within", "%.2f, %.2f, %.2f ms", median(client.slowest), quantile(client.slowest, 0.99), slices.Max(client.slowest))
	if before := client.before; len(before) > 0 {
		b.result("the same before", "%.2f, %.2f, %.2f ms", median(before), quantile(before, 0.99), slices.Max(before))
	} else {
		b.skipped("the same before", "the first results expired while the last ones were made")
	}

	return nil
}

// syncKept is how long the results of /runsync are kept, and sweepTick how long after that they may be deleted.
const (
	syncKept  = time.Minute
	sweepTick = 10 * time.Second
)

// steady is a client that sends one /run after the other, as somebody who must not be held up.
type steady struct {
	before, slowest []float64 // milliseconds: before results expire, and while they do
	failed          error
}

// run sends until stop is closed. Results expire between the two times.
func (c *steady) run(s *server, first, last time.Time, stop <-chan struct{}) {
	c.failed = each(s.address, 1, func(_ int, connected *conn) error {
		for {
			select {
			case <-stop:
				return nil
			case <-time.After(2 * time.Millisecond):
			}

			asked := time.Now()
			if _, err := connected.ask(s.post("run", []byte(`{"input":{}}`)), http.StatusOK); err != nil {
				return err
			}

			took := milliseconds(time.Since(asked))
			switch {
			case asked.Before(first):
				c.before = append(c.before, took)
			case asked.Before(last):
				c.slowest = append(c.slowest, took)
			}
		}
	})
}
