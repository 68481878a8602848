// Command crash kills the server with SIGKILL at random moments under a load that has everything in flight, and kills
// workers under a server that stays up. It checks, over HTTP alone, what the queue promises: no acknowledged job is lost,
// each ends, a final status never changes but by a retry, no chunk is handed over twice, and the webhook of each end arrives.
// Or it pauses servers with SIGSTOP and steps their clocks, with workers that live all the time: then no job may run twice, or
// end before its time either.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

func main() {
	berth := flag.String("berth", "bin/berth", "the server's program")
	rounds := flag.Int("rounds", 20, "how often to kill the server")
	workers := flag.Int("workers", 20, "how many workers to kill")
	pauses := flag.Int("pauses", 0, "how often to pause the server, and to step its clock")
	lease := flag.Duration("lease", 30*time.Second, "how long a job may go unheard of on a server that is paused; pauses take a sixth of that to twice as long")
	servers := flag.Int("servers", 4, "how many servers to pause side by side")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is done and when it is killed")
	flag.Parse()
	fmt.Printf("seed %d\n", *seed)
	program, err := filepath.Abs(*berth)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	var ofServer, ofWorkers error
	if *rounds > 0 {
		all.Go(func() {
			ofServer = inDirectory(func(data string) error { return killServer(program, data, *rounds, *seed) })
		})
	}
	if *workers > 0 {
		all.Go(func() {
			ofWorkers = inDirectory(func(data string) error { return killWorkers(program, data, *workers, *seed) })
		})
	}
	ofPauses := make([]error, *servers)
	for n := range min(*servers, *pauses) {
		share := (*pauses + n) / *servers // which add up
		all.Go(func() {
			ofPauses[n] = inDirectory(func(data string) error {
				return pauseServer(program, data, share, *lease, *seed+uint64(n))
			})
		})
	}
	all.Wait()
	if err := errors.Join(append(ofPauses, ofServer, ofWorkers)...); err != nil {
		fmt.Fprintf(os.Stderr, "seed %d: %v\n", *seed, err)
		os.Exit(1)
	}
}

// inDirectory has a new data directory used and removed; an error comes with the end of the server's log.
func inDirectory(use func(data string) error) error {
	tmp, err := os.MkdirTemp("", "berth-crash-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	data := filepath.Join(tmp, "data")
	if err := use(data); err != nil {
		return fmt.Errorf("%w\nthe server's log ends:\n%s", err, log(data))
	}
	return nil
}

// source gives the randomness of one actor.
func source(seed, actor uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, actor)) //nolint:gosec // moments and choices, not secrets
}
