package main

import (
	"fmt"
	"net/http"
	"time"
)

// backlog fills a queue and compares its speed with that of an empty one; then it restarts the server.
func (b *bench) backlog() error {
	empty, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer empty.stop()
	full, err := b.serve(b.directory())
	if err != nil {
		return err
	}

	defer func() { full.stop() }()
	before, err := resident(full.cmd.Process.Pid)
	if err != nil {
		return err
	}
	if _, err := full.fill(b.jobs); err != nil {
		return err
	}

	after, err := resident(full.cmd.Process.Pid)
	if err != nil {
		return err
	}

	runs := func(s *server) func() (reading, error) {
		return func() (reading, error) {
			return s.rate(connections, b.length, http.StatusOK, forever(s.post("run", kilobyte)))
		}
	}

	b.heading()
	for _, r := range []row{
		{name: fmt.Sprintf("/run with %d jobs waiting beside none", b.jobs), reference: runs(empty), measured: runs(full), unit: "requests/s"},
		{name: fmt.Sprintf("take + done with %d jobs waiting beside none", b.jobs), reference: empty.takes(), measured: full.takes(), unit: "jobs/s"},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}

	full.stop()
	start := time.Now()
	again, err := b.restart(full)
	if err != nil {
		return err
	}

	full = again
	if _, err := full.once(full.get("health")); err != nil {
		return err
	}
	took := time.Since(start)
	restarted, err := resident(full.cmd.Process.Pid)
	if err != nil {
		return err
	}

	b.number("memory of a waiting job", "bytes", atMost(200), float64(after-before)/float64(b.jobs))
	b.number("memory of a waiting job after a restart", "bytes", atMost(200), float64(restarted-before)/float64(b.jobs))
	b.result("resident when empty, full, after a restart", "%.0f, %.0f, %.0f MB", float64(before)/1e6, float64(after)/1e6, float64(restarted)/1e6)
	b.number("first answer after a restart", "s", atMost(1), took.Seconds())
	return nil
}

// takes gives what measures takes and ends of jobs. It fills the queue first: an empty one has nothing to take.
func (s *server) takes() func() (reading, error) {
	return func() (reading, error) {
		if _, err := s.fill(5000); err != nil {
			return reading{}, err
		}
		return s.reading(func() (int64, error) {
			return 64 * 64, each(s.address, connections, func(i int, c *conn) error {
				for range 64 {
					if _, err := s.work(c, i, s.get(fmt.Sprintf("job-take/bench%d", i))); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
