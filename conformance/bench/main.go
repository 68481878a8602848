// Command bench measures berth beside its references, in interleaved rounds of one run. Every row is a ratio: the median of
// the rounds with the smallest and the largest. Only ratios mean anything on another machine, and nothing here fails for
// being slow. What cannot run here is printed as SKIPPED, with the reason.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run.
type bench struct {
	berth  string // program
	tmp    string // directory of everything that the run makes
	rounds int
	length time.Duration // of one measurement
	jobs   int           // of the backlog
	only   string        // rows whose names contain it
	seq    int           // data directories made so far
}

// part is a group of measurements.
type part struct {
	name, about string
	run         func(*bench) error
}

var parts = []part{
	{"start", "cold start, memory and size beside a bare echo + SQLite program", (*bench).start},
	{"requests", "requests beside a bare echo server", (*bench).requests},
	{"peers", "jobs from enqueue to done beside asynq on Redis and River on PostgreSQL", (*bench).peers},
	{"fsync", "group commit on a disk whose fsync takes 1 ms, and that no answer leaves before its commit", (*bench).fsync},
	{"backlog", "memory, speed and restart with very many jobs waiting", (*bench).backlog},
	{"large", "fifty inputs of 20 MB at once, and one of a byte more", (*bench).large},
	{"shrink", "the file and the longest pause while very many results expire", (*bench).shrink},
}

func main() {
	b := bench{}
	flag.StringVar(&b.berth, "berth", "../../bin/berth", "berth's program")
	flag.IntVar(&b.rounds, "rounds", 7, "interleaved rounds of each measurement")
	flag.DurationVar(&b.length, "length", time.Second, "of one measurement")
	flag.StringVar(&b.only, "row", "", "only the rows of requests and peers whose names contain this")
	flag.IntVar(&b.jobs, "jobs", 1_000_000, "jobs of the backlog")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "bench [flags] [part ...]")
		for _, p := range parts {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-10s %s\n", p.name, p.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := b.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (b *bench) run(names []string) (err error) {
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	if b.berth, err = filepath.Abs(b.berth); err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp("", "berth-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.tmp) }()
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		fmt.Printf("## %s: %s\n\n", p.name, p.about)
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println()
	}
	return nil
}

// build builds a reference program of this module.
func (b *bench) build(name string) (string, error) {
	path := filepath.Join(b.tmp, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./"+name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return path, nil
}

// directory makes a new path for data; whoever uses it makes the directory.
func (b *bench) directory() string {
	b.seq++
	return filepath.Join(b.tmp, fmt.Sprintf("data-%d", b.seq))
}

func skipped(row, reason string) {
	fmt.Printf("| %s | SKIPPED: %s |\n", row, strings.TrimSpace(reason))
}
