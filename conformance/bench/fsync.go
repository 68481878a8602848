package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// slow is how much longer each fsync takes for the check that answers wait for it: far longer than anything else.
const slow = 20 * time.Millisecond

// fsync has strace make every fsync of the program longer.
func (b *bench) fsync() error {
	b.heading()
	if out, err := exec.Command("strace", "-f", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		b.skipped("all of it", fmt.Sprintf("strace cannot run here: %v %s", err, out))
		return nil
	}
	if err := b.groupCommit(); err != nil {
		return err
	}
	return b.answersWait()
}

// tracer gives the words before a program whose fsyncs are to take longer, and be written to a file. With -D the program, not
// strace, is the process that was started.
func tracer(log string, delay time.Duration) []string {
	return []string{
		"strace", "-D", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-e", "trace=fsync,fdatasync", "-e",
		fmt.Sprintf("inject=fsync,fdatasync:delay_exit=%d", delay.Microseconds()), "-o", log,
	}
}

var inserts = regexp.MustCompile(`BenchmarkInsertJob64/(\S+?)(?:-\d+)?\s.*?([\d.]+) inserts/s`)

// groupCommit runs the store's own benchmark, which has 64 callers, on a disk with 1 ms more for each fsync.
func (b *bench) groupCommit() error {
	binary := filepath.Join(b.tmp, "store.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./store/sqlite")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("store: %w: %s", err, out)
	}

	var ratios []float64
	for range b.rounds {
		words := append(tracer("/dev/null", time.Millisecond), binary, "-test.run=^$", "-test.bench=InsertJob64", "-test.benchtime=1s")
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("store: %w: %s", err, out)
		}

		rates := map[string]float64{}
		for _, m := range inserts.FindAllStringSubmatch(string(out), -1) {
			if rates[m[1]], err = strconv.ParseFloat(m[2], 64); err != nil {
				return err
			}
		}

		group, single := rates["group_commit"], rates["one_transaction_per_call"]
		if group == 0 || single == 0 {
			return fmt.Errorf("store: no rates in %s", out)
		}
		ratios = append(ratios, group/single)
	}

	b.number("group commit beside one transaction per call, 64 callers, fsync + 1 ms", "times", bound{}, ratios...)
	return nil
}

// answersWait fails if an answer that promises something on disk comes sooner than one fsync takes: the fsync of its own
// commit begins after the request came. On one connection it also counts them.
func (b *bench) answersWait() error {
	log := filepath.Join(b.tmp, "fsync.log")
	s, err := b.serve(b.directory(), tracer(log, slow)...)
	if err != nil {
		return err
	}

	defer s.stop()
	counted := func() (int, error) {
		text, err := os.ReadFile(log)
		return strings.Count(string(text), "fsync(") + strings.Count(string(text), "fdatasync("), err
	}

	for _, connections := range []int{1, 64} {
		on := map[int]string{1: "one connection", 64: "64 connections"}[connections]
		before, err := counted()
		if err != nil {
			return err
		}

		least := map[string]time.Duration{}
		var mu sync.Mutex
		err = each(s.address, connections, func(i int, c *conn) error {
			timed := func(what string, req []byte) ([]byte, error) {
				start := time.Now()
				body, err := c.ask(req, http.StatusOK)
				took := time.Since(start)
				mu.Lock()
				defer mu.Unlock()
				if known, ok := least[what]; !ok || took < known {
					least[what] = took
				}
				return body, err
			}

			for range 20 {
				if _, err := timed("run", s.post("run", kilobyte)); err != nil {
					return err
				}
				body, err := timed("job-take", s.get(fmt.Sprintf("job-take/bench%d", i)))
				if err != nil {
					return err
				}

				id, err := idOf(body)
				if err != nil {
					return err
				}
				if _, err := timed("job-done", s.post(fmt.Sprintf("job-done/bench%d/%s", i, id), []byte(`{"output":1}`))); err != nil {
					return err
				}
			}

			return nil
		})
		if err != nil {
			return err
		}

		for _, what := range []string{"run", "job-take", "job-done"} {
			if least[what] < slow {
				return fmt.Errorf("an answer to %s came after %v, before its commit can have been on disk: each fsync took %v", what, least[what], slow)
			}
			b.number(fmt.Sprintf("soonest answer to %s, %s, fsync + %v", what, on, slow), "ms", atLeast(milliseconds(slow)), milliseconds(least[what]))
		}

		after, err := counted()
		if err != nil {
			return err
		}
		fsyncs, answers := after-before, 3*20*connections
		if connections == 1 && fsyncs < answers {
			return fmt.Errorf("%d answers after %d fsyncs: some did not wait for one", answers, fsyncs)
		}

		b.number("fsyncs for an answer, "+on, "", bound{}, float64(fsyncs)/float64(answers))
	}

	return nil
}
