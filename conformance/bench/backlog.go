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
	takes := func(s *server) func() (reading, error) {
		return func() (reading, error) {
			if _, err := s.fill(5000); err != nil { // the empty queue has nothing to take
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
	fmt.Printf("%d jobs of %d bytes wait.\n\n", b.jobs, len(kilobyte))
	header()
	if err := (row{"/run beside a short queue", runs(empty), runs(full), "requests/s"}).print(b); err != nil {
		return err
	}
	if err := (row{"take + done beside a short queue", takes(empty), takes(full), "jobs/s"}).print(b); err != nil {
		return err
	}
	full.stop()
	start := time.Now()
	again, err := b.restart(full.data, full.key)
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
	fmt.Printf("\n| | resident, MB | bytes for a waiting job |\n|---|---|---|\n| empty | %.0f | |\n| full | %.0f | %.0f |\n| full, after a restart | %.0f | %.0f |\n\n",
		float64(before)/1e6, float64(after)/1e6, float64(after-before)/float64(b.jobs),
		float64(restarted)/1e6, float64(restarted-before)/float64(b.jobs))
	fmt.Printf("From the start of the process to the first answer: %.2f s.\n", took.Seconds())
	return nil
}
