// Command crash kills the server with SIGKILL at random moments under a load that has everything in flight, and kills
// workers under a server that stays up. It checks, over HTTP alone, what the queue promises: no acknowledged job is lost,
// each ends, a final status never changes but by a retry, no chunk is handed over twice, and the webhook of each end arrives, however
// many receivers never answer. So it does with pods, volumes, templates and endpoints, simulated and as processes, and with keys that
// berth keys makes beside the server: what was acknowledged is there, what was removed stays so, and pods come to what was asked for.
// In /proc it sees that no process is left of a server before, of a pod that is not to run, or of a server that was asked to end.
//
// Or it pauses servers with SIGSTOP and steps their clocks, with workers that live all the time: then no job may run twice, or
// end before its time either.
//
// Or it has three replicas over one PostgreSQL, each request goes to any of them, and their owner is killed, or stopped for longer than its
// lease; or they are asked to end one after the other, and then no request may fail but with an answer that asks to try again.
//
// Or it makes backups of a server under load, kills it in every other one, and serves each backup elsewhere: what was acknowledged before the
// backup began is there, as it was.
//
// Or it has servers ship their databases, kills each under load, takes its disk away, and serves what was shipped elsewhere: what was acknowledged
// before the moment to which that is said to go is there. They ship to folders and to a bucket of S3.
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
	rounds := flag.Int("rounds", 20, "how often to kill each of the two servers")
	workers := flag.Int("workers", 20, "how many workers to kill")
	pauses := flag.Int("pauses", 0, "how often to pause a server, and to step its clock")
	lease := flag.Duration("lease", 30*time.Second, "how long a job may go without a sign of life on a server that is paused; a pause takes a sixth of that to twice as long")
	servers := flag.Int("servers", 4, "how many servers to pause side by side")
	var what several
	flag.IntVar(&what.kills, "replica-kills", 0, "how often to kill the owner of three replicas")
	flag.IntVar(&what.stops, "replica-stops", 0, "how often to stop the owner of three replicas")
	flag.DurationVar(&what.stop, "replica-stop", 30*time.Second, "for how long; a lease lasts six seconds")
	flag.IntVar(&what.rolls, "replica-rolls", 0, "how often to ask three replicas to end, one after the other")
	flag.StringVar(&what.other, "replica-other", "", "another program for each second start of those, such as the last release")
	backups := flag.Int("backups", 0, "how often to make a backup of a server under load")
	lost := flag.Int("lost", 0, "how often to lose a server under load, with its disk, and to restore what it shipped")
	s3 := flag.String("s3", "", "program of the server of S3, versitygw, to which as many servers ship, besides those that ship to folders")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is done and when it is killed")
	flag.Parse()
	fmt.Printf("seed %d\n", *seed)

	program, err := filepath.Abs(*berth)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	what.seed = *seed
	var all sync.WaitGroup
	var ofServer, ofProcesses, ofWorkers, ofBackups, ofLost, ofBucket, ofReplicas error

	ofPauses := make([]error, *servers)
	run := func(err *error, runtime string, use func(settings) error) {
		all.Go(func() {
			*err = inDirectory(func(data string) error {
				return use(settings{berth: program, data: data, listen: lastingAddress(), runtime: runtime})
			})
		})
	}

	if *rounds > 0 {
		run(&ofServer, "sim", func(c settings) error { return killServer(c, *rounds, *seed, true) })
		run(&ofProcesses, "process", func(c settings) error { return killServer(c, *rounds, *seed+1, false) })
	}
	if *workers > 0 {
		run(&ofWorkers, "sim", func(c settings) error { return killWorkers(c, *workers, *seed) })
	}
	if *backups > 0 {
		run(&ofBackups, "sim", func(c settings) error { return backUpServer(c, *backups, *seed) })
	}
	if *lost > 0 {
		run(&ofLost, "sim", func(c settings) error { return loseServers(c, "", *lost, *seed) })
	}
	if *lost > 0 && *s3 != "" {
		run(&ofBucket, "sim", func(c settings) error {
			return withBucket(*s3, func(bucket string) error { return loseServers(c, bucket, *lost, *seed+uint64(*lost)) })
		})
	}
	for n := range min(*servers, *pauses) {
		share := (*pauses + n) / *servers // which add up
		run(&ofPauses[n], "sim", func(c settings) error { return pauseServer(c, share, *lease, *seed+uint64(n)) })
	}
	if what.kills+what.stops+what.rolls > 0 {
		all.Go(func() { ofReplicas = disturbReplicas(program, what) })
	}
	all.Wait()
	if err := errors.Join(append(ofPauses, ofServer, ofProcesses, ofWorkers, ofBackups, ofLost, ofBucket, ofReplicas)...); err != nil {
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

// several is what is done to replicas: so often each.
type several struct {
	kills, stops, rolls int
	stop                time.Duration // how long an owner is stopped
	other               string        // a program that takes turns with the one under test in a rolling restart; empty: none
	seed                uint64
}
